/** Lifetime of the parts started in it: a test of tap, or a run of histories (test/torture). */
export interface Scope {
  teardown(end: () => unknown): void;
}
