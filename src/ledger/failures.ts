/** Collects what fails in a round of work of which each piece is to be tried, whatever became of the others. */
export class Failures {
  #first: { readonly error: unknown } | undefined;

  /** Never rejects. */
  async note(work: Promise<unknown>, onFailure?: () => void): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#first ??= { error };
      onFailure?.();
    }
  }

  throwFirst(): void {
    if (this.#first) throw this.#first.error;
  }
}
