/** True under `npm run test:all`: tests that thin out a table in `npm test` run all of it. */
export const RUNS_ALL = process.env.TEST_ALL !== undefined;
