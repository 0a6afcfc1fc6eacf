import { buildPage } from '../../../src/dashboard/build-page.ts';

/**
 * Set by test/run.ts, which builds the page once for all files and so saves half a second of processor time per file.
 */
const { TEST_PAGE_BUILT } = process.env;

let built: Promise<void> | undefined;

/** Builds the dashboard's page from the sources, unless this test run has already built it. */
export function buildPageOnce(): Promise<void> {
  built ??= TEST_PAGE_BUILT ? Promise.resolve() : buildPage();
  return built;
}
