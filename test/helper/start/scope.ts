/** Lifetime of the parts that are started for it: a test of tap, or a run of histories (test/torture). */
export interface Scope {
  teardown(end: () => unknown): void;
}
