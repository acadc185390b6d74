/* SPDX-License-Identifier: Apache-2.0 */
/* serve/handlers: the answers of the routes, on the main thread. */
#pragma once

#include "serve/request.h"

enum MHD_Result serve_get_catalog(serve_request *request);
enum MHD_Result serve_get_files(serve_request *request);
enum MHD_Result serve_post_session(serve_request *request);
enum MHD_Result serve_get_session(serve_request *request);
enum MHD_Result serve_delete_session(serve_request *request);
enum MHD_Result serve_post_open(serve_request *request);
enum MHD_Result serve_put_data(serve_request *request);
enum MHD_Result serve_put_policy(serve_request *request);
enum MHD_Result serve_post_undo(serve_request *request);
enum MHD_Result serve_post_redo(serve_request *request);
enum MHD_Result serve_post_rows(serve_request *request);
enum MHD_Result serve_post_job(serve_request *request);
enum MHD_Result serve_delete_job(serve_request *request);
enum MHD_Result serve_get_download(serve_request *request);
