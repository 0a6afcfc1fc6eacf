/** Lines of one name in a second; one more counts the rest. */
const LINES_PER_SECOND = 5;
const SECOND_MS = 1_000;

interface Count<Line> {
  lines: number;
  /** The first line that was left out, and the number of such lines. */
  next: Line | undefined;
  repeated: number;
}

/** Bounds what clients can write into the log: of each name, five lines a second, then their number. */
export class FewLines<Line> {
  readonly #write: (line: Line, repeated: number | undefined) => void;
  #counts = new Map<string, Count<Line>>();
  #timer: NodeJS.Timeout | undefined;

  /** `write` gets the number of lines that a line stands for, if it is not alone. */
  constructor(write: (line: Line, repeated: number | undefined) => void) {
    this.#write = write;
  }

  /** `line` is only called if it is written: in a flood, most lines are only counted. */
  add(name: string, line: () => Line): void {
    const count = this.#counts.get(name) ?? { lines: 0, next: undefined, repeated: 0 };
    this.#counts.set(name, count);
    // A second begins with its first line.
    this.#timer ??= setTimeout(() => this.#secondEnded(), SECOND_MS).unref();
    if (count.lines < LINES_PER_SECOND) {
      count.lines++;
      this.#write(line(), undefined);
      return;
    }
    count.next ??= line();
    count.repeated++;
  }

  #secondEnded(): void {
    const counts = this.#counts;
    this.#counts = new Map();
    this.#timer = undefined;
    for (const { next, repeated } of counts.values()) {
      if (next !== undefined) this.#write(next, repeated);
    }
  }
}
