/* SPDX-License-Identifier: Apache-2.0 */
/* report/markup: see markup.h. */
#include "report/markup.h"

#include <string.h>

bool shoal_markup_continues(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* At most so many pixels, whichever font: hundredths of the font's size for each letter. */
size_t shoal_markup_width(const char *string, size_t size_bytes, size_t font) {
  size_t hundredths = 0;
  for (size_t i = 0; i < size_bytes; i++) {
    if (shoal_markup_continues(string[i])) continue;
    unsigned char c = (unsigned char)string[i];
    hundredths += c >= 0x80 || strchr("mwMW@%", c) ? 105
                  : strchr("fijlrt .,:;()[]|'", c) ? 46
                  : c >= 'A' && c <= 'Z'           ? 82
                                                   : 67;
  }
  return (hundredths * font + 99) / 100;
}

/* As XML text. What XML cannot hold at all (most control characters, U+FFFE, U+FFFF) is U+FFFD. */
void shoal_markup_add(shoal_text *text, const char *string, size_t size_bytes) {
  static const char special[] = "<>&\"\t\r\n";
  static const char *const instead[] = {"&lt;", "&gt;", "&amp;", "&quot;", " ", " ", " "};
  for (size_t i = 0; i < size_bytes; i++) {
    const char *c = string + i, *found = strchr(special, *c);
    if (found) {
      shoal_text_add(text, instead[found - special]);
    } else if ((unsigned char)*c < 0x20 || *c == 0x7f) {
      shoal_text_add(text, "\xef\xbf\xbd");
    } else if (size_bytes - i >= 3 && !memcmp(c, "\xef\xbf", 2) && (unsigned char)c[2] >= 0xbe) {
      shoal_text_add(text, "\xef\xbf\xbd");
      i += 2;
    } else {
      shoal_text_add_bytes(text, c, 1);
    }
  }
}
