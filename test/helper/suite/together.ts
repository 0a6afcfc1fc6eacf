/**
 * Loads the given test files one after the other in one process. They register their tests while the first test is
 * still running, because tap ends at the first moment without a test.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

// On load, tap names the folder of fixtures after program and arguments. With all files, the name would be too long.
const files = process.argv.slice(2);
process.argv.splice(1, files.length + 1, ...files.slice(0, 1));
// Each private Redis ends with the process, and the files may have more than ten at a time.
process.setMaxListeners(0);
const { test } = await import('tap');

test('the test files load', async (t) => {
  for (const file of files) await t.resolves(import(pathToFileURL(resolve(file)).href), file);
});
