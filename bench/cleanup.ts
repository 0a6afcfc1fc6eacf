/** What must be ended, in reverse order of its start. */
export class Cleanup {
  readonly #enders: (() => unknown)[] = [];

  add(end: () => unknown): void {
    this.#enders.push(end);
  }

  /** Ends everything, also where one of them fails; then rejects with the first failure. */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (const end of this.#enders.splice(0).reverse()) {
      try {
        await end();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
