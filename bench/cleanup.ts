/** Things to end, in reverse order of their start. */
export class Cleanup {
  readonly #enders: (() => unknown)[] = [];

  add(end: () => unknown): void {
    this.#enders.push(end);
  }

  /** Ends everything, even if one of them fails. Then rejects with the first failure. */
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
