/** The failures of a round of work whose pieces are all tried, whatever becomes of the others. */
export class Failures {
  readonly #errors: unknown[] = [];

  /** Resolves when `work` has settled; its rejection is remembered. Never rejects. */
  async note(work: Promise<unknown>, onFailure?: () => void): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#errors.push(error);
      onFailure?.();
    }
  }

  /** Throws the only failure as it is, and several as an AggregateError. Does nothing where there was none. */
  throwAny(): void {
    if (this.#errors.length === 0) return;
    if (this.#errors.length === 1) throw this.#errors[0];
    throw new AggregateError(this.#errors, `${this.#errors.length} pieces of work failed`);
  }
}
