/** Figures of a run of histories, for its report. */
export class RunSummary {
  histories = 0;
  calls = 0;
  /** Calls refused by rate limits. */
  limited = 0;
  /** Rotations that got an answer. */
  rotations = 0;
  readonly #faults = new Map<string, number>();
  readonly #recoveriesMs: number[] = [];
  /** Number, from 0, of the history with the slowest recovery. */
  #slowest = 0;
  /** Age in milliseconds of the oldest journal entry that Redis lost. */
  #oldestLossMs = 0;
  readonly #lagsMs: number[] = [];
  #unchecked = 0;

  fault(kind: string): void {
    this.#faults.set(kind, (this.#faults.get(kind) ?? 0) + 1);
  }

  recovered(ms: number): void {
    if (ms > Math.max(0, ...this.#recoveriesMs)) this.#slowest = this.histories;
    this.#recoveriesMs.push(ms);
  }

  lost(ageMs: number): void {
    this.#oldestLossMs = Math.max(this.#oldestLossMs, ageMs);
  }

  /**
   * Records a loss without another fault, whose oldest entry was `lagMs` old; undefined if the machine was too busy to
   * check.
   */
  lostWithoutFault(lagMs: number | undefined): void {
    if (lagMs === undefined) this.#unchecked++;
    else this.#lagsMs.push(lagMs);
  }

  report(): string {
    const faults = [...this.#faults].sort(([a], [b]) => a.localeCompare(b));
    const total = faults.reduce((sum, [, count]) => sum + count, 0);
    const sorted = this.#recoveriesMs.toSorted((a, b) => a - b);
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
    return [
      `${this.histories} histories, ${this.calls} calls, ${total} faults`,
      `${this.limited} calls refused by limits, ${this.rotations} rotations`,
      ...faults.map(([kind, count]) => `  ${String(count).padStart(6)}  ${kind}`),
      `from healed to the first successful call: median ${median.toFixed(0)} ms, worst ${(sorted.at(-1) ?? 0).toFixed(0)} ms (history ${this.#slowest})`,
      `oldest journal entry that Redis lost: ${this.#oldestLossMs} ms; without another fault ${Math.max(0, ...this.#lagsMs).toFixed(0)} ms (${this.#lagsMs.length} times, and ${this.#unchecked} not checked)`,
    ].join('\n');
  }
}
