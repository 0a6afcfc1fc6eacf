/** What is started for it ends with it: a test of tap, or a run of histories (test/torture). */
export interface Scope {
  teardown(end: () => unknown): void;
}
