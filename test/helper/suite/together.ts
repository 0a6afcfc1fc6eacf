/**
 * Runs the given test files in one process, one after the other. The next one loads behind the last test of a file,
 * inside a test, because tap ends at the first moment without one.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

// On load, tap names the folder of fixtures after program and arguments. With all files, the name would be too long.
const files = process.argv.slice(2);
process.argv.splice(1, files.length + 1, ...files.slice(0, 1));
// Each private Redis ends with the process, and the files may have more than ten at a time.
process.setMaxListeners(0);
const { t, test } = await import('tap');

/** Generous: closing what the files share takes seconds on a busy machine. */
const CLOSE_WITHIN_MS = 120_000;
// The plan comes after the last test and before teardown. All results are there, and a teardown that never ends would
// keep the whole run waiting.
t.parser.once('plan', () => {
  setTimeout(() => {
    console.error(
      `# not closed ${CLOSE_WITHIN_MS} ms after the last test: ${process.getActiveResourcesInfo()}`,
    );
    process.exit();
  }, CLOSE_WITHIN_MS).unref();
});

function run([file, ...others]: readonly string[]): void {
  if (file === undefined) return;
  test(`${file} loads`, async (t) => {
    await t.resolves(import(pathToFileURL(resolve(file)).href));
    run(others);
  });
}

run(files);
