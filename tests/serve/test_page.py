# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: the path from a table to a release, and what must not get lost or out on it.

With SHOAL_SCREENSHOTS=DIRECTORY the path also writes the pictures of docs/serve.md."""
import os
import pathlib
import re
import shlex
import subprocess
import unittest

import support
from browser import Browser
from serving import Server

STEPS = ("Data", "Columns", "Hierarchies", "Protection", "Explore", "Risk", "Release")
SHOTS = os.environ.get("SHOAL_SCREENSHOTS")
WAIT_MILLISECONDS = 120000  # ends a test that hangs; no test depends on it


def setUpModule():
    support.require_program()


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        directory = support.temp_dir()
        cls.addClassCleanup(directory.cleanup)
        cls.directory = pathlib.Path(directory.name)
        for name in ("patients.csv", "policy.yaml", "local.yaml", "marital.csv"):
            (cls.directory / name).write_bytes((support.ROOT / "examples" / "hospital" / name).read_bytes())
        cls.server = Server(cls.directory).__enter__()
        cls.addClassCleanup(cls.server.__exit__)

    def setUp(self):
        self.page = self.tab()

    def tab(self, address=None, **context):
        made = self.browser.chromium.new_context(viewport={"width": 1180, "height": 780}, accept_downloads=True, **context)
        self.addCleanup(made.close)
        page = made.new_page()
        page.set_default_timeout(WAIT_MILLISECONDS)
        self.faults, self.asked = [], []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("console", lambda said: said.type == "error" and self.faults.append(said.text))
        page.on("request", lambda request: self.asked.append(request.url))
        page.goto(address or self.server.address)
        return page

    def step(self, name):
        self.page.get_by_role("navigation", name="Steps").get_by_role("link", name=name).click()
        self.page.get_by_role("heading", name=name, level=1).wait_for()

    def open_example(self):
        self.page.get_by_role("button", name="Open the hospital example").click()
        self.page.get_by_text("First rows, raw").wait_for()
        self.page.get_by_text("figures of the raw table").wait_for()
        self.page.locator("#strip").get_by_text("100%").first.wait_for()  # the check has ended

    def shot(self, name):
        if SHOTS:
            self.page.wait_for_timeout(400)
            self.page.screenshot(path=os.path.join(SHOTS, f"{name}.png"))

    def release(self):
        self.step("Release")
        self.page.get_by_role("button", name="Make the release").click()
        self.page.get_by_text("Risks that remain").wait_for()

    def download(self, title):
        with self.page.expect_download() as caught:
            self.page.get_by_role("button", name=title, exact=True).click()
        return pathlib.Path(caught.value.path()).read_bytes()

    def same_as_command_line(self, *files):
        """Runs the command that the page shows; its files must be those of the page. files: what it reads."""
        command = self.page.locator("#command").inner_text()
        self.assertIn("--seed", command)
        self.assertIn("secret", self.page.locator("#secret").inner_text())
        with support.temp_dir() as folder:
            folder = pathlib.Path(folder)
            for name in files or ["patients.csv"]:
                (folder / name).write_bytes((self.directory / name).read_bytes())
            policy = self.download("Policy")
            self.assertNotIn(b"seed", policy)
            (folder / "policy.yaml").write_bytes(policy)
            words = shlex.split(command)
            self.assertEqual(["shoal", "anonymize"], words[:2])
            done = subprocess.run([support.SHOAL, *words[1:]], cwd=folder, capture_output=True, text=True, check=False)
            self.assertEqual(0, done.returncode, done.stderr)
            for title, name in (("Release", "release.csv"), ("Certificate", "certificate.html"), ("Mapping", "mapping.csv")):
                self.assertEqual((folder / name).read_bytes(), self.download(title), name)
        self.assertIn(b"<html", self.download("Internal report"))

    def privacy(self):
        """The k that the YAML view shows."""
        self.page.get_by_role("button", name="Policy (YAML)").click()
        text = self.page.get_by_label("The policy as YAML").input_value()
        self.page.get_by_role("button", name="Close", exact=True).click()
        return int(re.search(r"^  k: (\d+)", text, re.M)[1])

    # ---- the path

    def test_the_whole_path_uniform(self):
        self.shot("start")
        self.open_example()
        self.shot("data")
        self.step("Columns")
        self.page.get_by_label("Role of ward").wait_for()
        self.shot("columns")
        self.step("Hierarchies")
        self.page.get_by_text("The tree with counts").wait_for()
        self.shot("hierarchies")
        self.step("Protection")
        self.page.get_by_text("p can be at most 11 here").first.wait_for()
        self.shot("protection")
        self.step("Explore")
        self.page.get_by_text("180 combinations of levels: 74 satisfy the policy, 5 of them minimal").wait_for()
        self.page.get_by_text("Figures of this candidate").wait_for()
        self.page.set_viewport_size({"width": 1180, "height": 960})
        self.shot("explore")
        self.page.set_viewport_size({"width": 1180, "height": 780})
        self.release()
        self.shot("release")
        strip = self.page.locator("#strip").inner_text()
        for text in ("57", "33%", "25%", "30%", "holds with risks"):
            self.assertIn(text, strip)
        self.same_as_command_line()
        self.step("Risk")
        self.page.get_by_text("Records at risk").wait_for()
        self.page.get_by_text("reported, not simulated").first.wait_for()
        self.shot("risk")
        self.assertEqual([], self.faults)

    def test_the_whole_path_local(self):
        self.open_example()
        self.step("Protection")
        self.page.get_by_label("Method").select_option("flock")
        self.page.get_by_text("algorithm is flock.").wait_for()
        self.release()
        self.same_as_command_line()
        self.assertEqual([], self.faults)

    def test_a_candidate_becomes_the_policy(self):
        self.open_example()
        self.step("Explore")
        self.page.get_by_text("Figures of this candidate").wait_for()
        self.page.get_by_label("age: level").fill("3")
        self.page.get_by_role("row", name="Height 5").wait_for()
        self.page.get_by_role("cell", name="[20-39]").first.wait_for()  # a row at these levels
        self.page.get_by_role("button", name="Pin to compare").click()
        self.page.get_by_label("age: level").fill("2")
        self.page.get_by_role("row", name="Height 4").wait_for()
        self.page.get_by_role("button", name="Pin to compare").click()
        self.page.get_by_role("rowheader", name="age", exact=True).first.wait_for()
        self.page.get_by_text("finds a class of at least").wait_for()
        self.page.get_by_label("Rows", exact=True).select_option("sex")
        self.page.get_by_label("Columns", exact=True).select_option("marital")
        self.page.get_by_role("columnheader", name="sex \\ marital").nth(2).wait_for()  # the candidate and both pinned ones
        self.page.get_by_label("age: level").fill("3")
        self.page.get_by_role("row", name="Height 5").first.wait_for()
        self.page.get_by_role("button", name="Use these levels").click()
        self.page.get_by_text("The policy now asks for these levels").wait_for()
        self.release()
        self.assertIn("57", self.page.locator("#strip").inner_text())
        self.same_as_command_line()

    # ---- changes

    def test_undo_and_yaml_stay_in_step(self):
        self.open_example()
        self.step("Protection")
        k = self.page.get_by_label("k: rows that look alike")
        k.fill("4")
        k.press("Enter")
        self.page.get_by_text("k is 4.").wait_for()
        self.assertEqual(4, self.privacy())
        self.page.get_by_role("button", name="Undo").click()
        self.page.get_by_text("Undone.").wait_for()
        self.assertEqual("3", self.page.get_by_label("k: rows that look alike").input_value())
        self.page.get_by_role("button", name="Redo").click()
        self.page.get_by_text("Done again.").wait_for()
        self.assertEqual("4", self.page.get_by_label("k: rows that look alike").input_value())
        self.page.get_by_role("button", name="Policy (YAML)").click()
        text = self.page.get_by_label("The policy as YAML")
        good = text.input_value()
        text.fill(good.replace("k: 4", "k: 6"))
        self.page.get_by_role("button", name="Apply").click()
        self.page.get_by_text("Policy applied.").wait_for()
        self.assertEqual("6", self.page.get_by_label("k: rows that look alike").input_value())
        text.fill("k: [")
        self.page.get_by_role("button", name="Apply").click()
        self.page.get_by_role("alert").first.wait_for()
        self.page.get_by_role("button", name="Undo").click()
        self.page.get_by_label("k: rows that look alike").wait_for()
        self.assertEqual("6", self.page.get_by_label("k: rows that look alike").input_value())
        self.assertEqual([], self.faults)

    def test_two_changes_at_once(self):
        """The second begins before the first is answered: neither may be lost."""
        self.open_example()
        self.step("Protection")
        self.page.get_by_label("k: rows that look alike").wait_for()
        self.page.evaluate("""for (const [key, value] of [["k", 7], ["p", 3]]) {
            const input = document.querySelector(`[data-key="${key}"]`);
            input.value = value;
            input.dispatchEvent(new Event("change"));
        }""")
        self.page.get_by_text("p is 3.").wait_for()
        self.assertEqual(7, self.privacy())
        self.assertEqual("3", self.page.get_by_label("p: different sensitive values").input_value())

    def test_roles_by_click_key_and_pattern(self):
        self.open_example()
        self.step("Columns")
        self.page.get_by_label("Role of ward").select_option("quasi")
        self.page.get_by_text("ward is quasi.").wait_for()
        self.page.get_by_label("Role of ward").press("s")
        self.page.get_by_text("ward is sensitive.").wait_for()
        self.page.get_by_label("Columns by pattern").fill("*a*")
        self.page.get_by_label("become").select_option("keep")
        self.page.get_by_role("button", name="Apply").click()
        self.page.get_by_text("4 columns are keep.").wait_for()
        self.assertEqual("keep", self.page.get_by_label("Role of marital").input_value())
        self.assertEqual("sensitive", self.page.get_by_label("Role of illness").input_value())

    def test_hierarchy_edits(self):
        self.open_example()
        self.step("Hierarchies")
        self.page.get_by_text("[60-79] – 7 rows, 6 values").wait_for()
        widths = self.page.get_by_label("Widths")
        widths.fill("10, 30")
        widths.press("Enter")
        self.page.get_by_text("[30-59] – 36 rows").wait_for()
        widths = self.page.get_by_label("Widths")
        widths.fill("10, 15")
        widths.press("Enter")
        self.page.get_by_role("alert").first.wait_for()
        self.page.get_by_role("button", name="Undo").click()
        self.page.get_by_label("Kind").select_option("cuts")
        bound = self.page.get_by_role("slider", name="Bound 1")
        bound.wait_for()
        before = int(bound.get_attribute("aria-valuenow"))
        bound.press("ArrowRight")
        self.page.locator(f"[role=slider][aria-valuenow='{before + 1}']").wait_for()
        self.page.get_by_role("group", name="Quasi-identifiers").get_by_role("button", name="marital").click()
        self.page.get_by_label("partnership").check()
        self.page.get_by_label("Name of the group", exact=True).fill("other")
        self.page.get_by_role("button", name="Move the chosen values there").click()
        self.page.get_by_text("1 value moved to other.").wait_for()
        self.page.get_by_text(re.compile(r"^other – \d+ row")).wait_for()
        name = self.page.get_by_label("Name of the group alone")
        name.fill("single household")
        name.press("Enter")
        self.page.get_by_text("alone is now single household.").wait_for()
        with self.page.expect_download() as caught:
            self.page.get_by_role("button", name="Export as CSV").click()
        rows = pathlib.Path(caught.value.path()).read_text(encoding="utf-8").splitlines()
        self.assertIn("partnership;other;*", rows)
        self.page.get_by_label("Import a CSV file").set_input_files(str(self.directory / "marital.csv"))
        self.page.get_by_text("5 rows imported.").wait_for()
        self.page.get_by_text(re.compile(r"^couple – \d+ rows")).wait_for()
        self.assertEqual([], self.faults)

    # ---- what may happen

    def test_reload_midway(self):
        self.open_example()
        self.step("Protection")
        k = self.page.get_by_label("k: rows that look alike")
        k.fill("5")
        k.press("Enter")
        self.page.get_by_text("k is 5.").wait_for()
        self.page.reload()
        self.page.get_by_role("heading", name="Protection", level=1).wait_for()
        self.page.get_by_label("k: rows that look alike").wait_for()
        self.assertEqual("5", self.page.get_by_label("k: rows that look alike").input_value())
        self.assertTrue(self.page.get_by_role("button", name="Undo").is_enabled())

    def test_a_broken_file(self):
        path = self.directory / "broken.csv"
        path.write_text("a,b\n1,2\nQuirk,Zebulon,3\n", encoding="utf-8")
        self.addCleanup(path.unlink)
        self.page.locator("#chooseFile").set_input_files(str(path))
        alert = self.page.get_by_role("alert")
        alert.wait_for()
        self.assertIn("broken.csv", alert.inner_text())
        self.assertNotIn("Zebulon", self.page.content())
        self.page.locator("#chooseFile").set_input_files(str(self.directory / "patients.csv"))
        self.page.get_by_text("patients.csv has 60 rows and 7 columns").wait_for()

    def census(self, rows, *words):
        """A generated table in the start directory."""
        path = self.directory / "census.csv"
        with open(path, "wb") as out:
            subprocess.run([pathlib.Path(support.SHOAL).parent / "census", str(rows), *words], stdout=out, check=True)
        self.addCleanup(path.unlink)
        return path

    def test_the_whole_path_on_census_data(self):
        self.census(3000)
        names = [p.name for p in (support.ROOT / "examples" / "census").glob("*.csv")]
        for name in [*names, "policy.yaml"]:
            path = self.directory / (name if name != "policy.yaml" else "census.yaml")
            path.write_bytes((support.ROOT / "examples" / "census" / name).read_bytes())
            self.addCleanup(path.unlink)
        self.page.reload()
        self.page.get_by_role("button", name="census.csv").click()
        self.page.get_by_text("census.csv has 3,000 rows").wait_for()
        self.page.get_by_role("link", name="Next: columns").wait_for()  # profiled: nothing more is said of the table
        self.page.get_by_role("button", name="census.yaml").click()
        self.page.get_by_text("Policy census.yaml opened.").wait_for()
        self.step("Explore")
        self.page.get_by_text("3,240 combinations of levels").wait_for()
        self.page.get_by_text("Figures of this candidate").wait_for()
        self.release()
        self.same_as_command_line("census.csv", *names)
        self.assertEqual([], self.faults)

    @unittest.skipUnless(os.environ.get("SHOAL_LONG"), "a million rows: make check-long")
    def test_a_million_rows(self):
        self.census(1000000, "1", "--wide")
        self.page.reload()
        self.page.get_by_role("button", name="census.csv").click()
        self.page.get_by_text("census.csv has 1,000,000 rows").first.wait_for()
        self.page.get_by_role("link", name="Next: columns").wait_for()
        self.assertEqual([], self.faults)

    def test_cancel(self):
        path = self.census(30000)
        self.page.locator("#chooseFile").set_input_files(str(path))
        self.page.get_by_text("First rows, raw").wait_for()
        self.step("Release")
        self.page.get_by_role("button", name="Make the release").click()
        self.page.get_by_role("button", name="Cancel").click()
        self.page.get_by_text("Cancelled.").wait_for()
        self.assertEqual(0, self.page.get_by_text("Risks that remain").count())

    def test_two_tabs_and_no_token(self):
        self.open_example()
        first = self.page
        other = self.tab()
        other.get_by_role("button", name="Open the hospital example").wait_for()
        self.assertEqual(0, other.get_by_text("First rows, raw").count())
        stranger = self.tab(self.server.origin + "/")
        stranger.get_by_text("Token needed").wait_for()
        stranger.get_by_label("Address or token").fill(self.server.address)
        stranger.get_by_role("button", name="Continue").click()
        stranger.get_by_role("button", name="Open the hospital example").wait_for()
        self.assertEqual("60", first.locator("#strip dd b").first.inner_text())

    def test_a_copied_tab_has_a_session_of_its_own(self):
        """A browser copies the storage of a tab with it; what one tab shows must not be changed by another."""
        self.open_example()
        with self.page.expect_popup() as caught:
            self.page.evaluate("void window.open('/')")
        copy = caught.value
        copy.get_by_role("button", name="Open the hospital example").wait_for()
        own = "sessionStorage.getItem('session')"
        self.assertNotEqual(self.page.evaluate(own), copy.evaluate(own))
        self.assertEqual(0, copy.get_by_text("First rows, raw").count())
        self.page.reload()
        self.page.get_by_text("First rows, raw").wait_for()

    def test_labels_that_are_names_of_the_language(self):
        self.open_example()
        self.step("Hierarchies")
        self.page.get_by_role("group", name="Quasi-identifiers").get_by_role("button", name="marital").click()
        self.page.get_by_label("partnership").check()
        self.page.get_by_label("Name of the group", exact=True).fill("constructor")
        self.page.get_by_role("button", name="Move the chosen values there").click()
        self.page.get_by_text("1 value moved to constructor.").wait_for()
        rows = "".join(f"{value};accepted;__proto__;*\n" for value in ("single", "married", "divorced", "widowed", "partnership"))
        self.page.get_by_label("Import a CSV file").set_input_files(
            {"name": "levels.csv", "mimeType": "text/csv", "buffer": rows.encode()})
        self.page.get_by_text("5 rows imported.").wait_for()
        self.page.get_by_text(re.compile("^__proto__ – 60 rows")).wait_for()
        self.assertEqual("undefined", self.page.evaluate("typeof ({}).accepted"))
        rows = "".join(f"{value};{group};any\n" for value, group in (
            ("single", "alone"), ("divorced", "alone"), ("widowed", "alone"), ("married", "couple"), ("partnership", "couple")))
        self.page.get_by_label("Import a CSV file").set_input_files(
            {"name": "levels.csv", "mimeType": "text/csv", "buffer": rows.encode()})
        self.page.get_by_text(re.compile("^any – 60 rows")).wait_for()  # the top keeps its name
        self.assertEqual([], self.faults)

    def test_names_of_files_in_the_command_line(self):
        for name in ("-o'.csv", "-P"):
            self.page.locator("#chooseFile").set_input_files(
                {"name": name, "mimeType": "text/csv", "buffer": (self.directory / "patients.csv").read_bytes()})
            self.page.get_by_text(f"{name} has 60 rows").wait_for()
            command = self.page.evaluate("import('/release.js').then((release) => release.commandLine({ seed: '1' }))")
            self.assertEqual(["shoal", "anonymize", "./" + name, "-P", "policy.yaml"], shlex.split(command)[:5])

    def test_nothing_stays_and_nothing_leaves(self):
        self.open_example()
        for name in STEPS:
            self.step(name)
        self.assertNotIn(self.server.token, self.page.url)
        self.assertEqual(["session", "token"], self.page.evaluate("Object.keys(sessionStorage).sort()"))
        self.assertEqual(0, self.page.evaluate("localStorage.length"))
        self.assertEqual("", self.page.evaluate("document.cookie"))
        self.assertLessEqual(self.page.evaluate("history.length"), 2 + len(STEPS))
        for url in self.asked:
            self.assertTrue(url.startswith((self.server.origin + "/", "blob:" + self.server.origin)), url)
            self.assertNotIn("Flounder", url)
        self.assertEqual([], self.faults)

    def test_the_lattice_by_keyboard(self):
        self.open_example()
        self.step("Explore")
        self.page.get_by_text("Figures of this candidate").wait_for()
        self.page.locator(".lattice .node").first.focus()
        for key in ("ArrowUp", "ArrowUp", "ArrowRight"):
            self.page.keyboard.press(key)
        label = self.page.evaluate("document.activeElement.getAttribute('aria-label')")
        self.assertIn("rows suppressed", label)
        levels = [int(level) for level in re.findall(r"\w+ (\d+)[,:]", label.split(": ")[0] + ":")]
        self.page.keyboard.press("Enter")
        self.page.get_by_role("row", name=f"Height {sum(levels)}").wait_for()

    def test_keyboard_alone(self):
        """From the start to a release, with Tab, Enter and arrow keys."""
        def press_until(wanted, key="Tab", most=120):
            for _ in range(most):
                self.page.keyboard.press(key)
                if re.search(wanted, self.page.evaluate("document.activeElement.matches('a, button') ? document.activeElement.innerText : ''")):
                    return
            self.fail(f"no way to {wanted} by {key}")
        self.page.get_by_role("button", name="Open the hospital example").wait_for()
        press_until("Open the hospital example")
        self.page.keyboard.press("Enter")
        self.page.get_by_text("First rows, raw").wait_for()
        for name in ("Columns", "Hierarchies", "Protection", "Explore"):
            press_until(f"Next: {name.lower()}")
            self.page.keyboard.press("Enter")
            self.page.get_by_role("heading", name=name, level=1).wait_for()
        self.page.get_by_text("Figures of this candidate").wait_for()
        press_until("Next: release")
        self.page.keyboard.press("Enter")
        self.page.get_by_role("heading", name="Release", level=1).wait_for()
        press_until("Make the release")
        self.page.keyboard.press("Enter")
        self.page.get_by_text("Risks that remain").wait_for()
        self.page.wait_for_function("document.activeElement.id === 'outcome'")


class Access(Page):
    """axe-core on every view, light and dark, and narrow screens."""

    def visit(self, look):
        """Calls look(name) on every view."""
        look("start")
        self.open_example()
        look("Data")
        for name in STEPS[1:5]:
            self.step(name)
            self.page.wait_for_load_state("networkidle")
            look(name)
        self.release()
        look("Release")
        self.page.get_by_role("button", name="Policy (YAML)").click()
        look("YAML")
        self.page.get_by_role("button", name="Close", exact=True).click()
        self.step("Risk")
        self.page.get_by_text("Records at risk").wait_for()
        look("Risk")

    def axe(self, scheme):
        from axe_playwright_python.sync_playwright import Axe
        self.page = self.tab(color_scheme=scheme, reduced_motion="reduce")
        found = []

        def look(name):
            self.page.get_by_role("heading", level=1).wait_for()
            self.page.wait_for_timeout(200)
            for fault in Axe().run(self.page).response["violations"]:
                if fault["impact"] in ("serious", "critical"):
                    found.append((scheme, name, fault["id"], [node["html"][:160] for node in fault["nodes"][:3]]))
        self.page.get_by_role("button", name="Open the hospital example").wait_for()
        self.visit(look)
        self.assertEqual([], found)

    def test_axe_light(self):
        self.axe("light")

    def test_axe_dark(self):
        self.axe("dark")

    def test_320_pixels(self):
        self.page.set_viewport_size({"width": 320, "height": 640})
        wide = []
        self.page.get_by_role("button", name="Open the hospital example").wait_for()

        def look(name):
            width = self.page.evaluate("document.documentElement.scrollWidth")
            if width > 320:
                wide.append((name, width))
        self.visit(look)
        self.assertEqual([], wide)


for name in [n for n in vars(Page) if n.startswith("test_")]:  # the base class runs them
    setattr(Access, name, None)


if __name__ == "__main__":
    unittest.main()
