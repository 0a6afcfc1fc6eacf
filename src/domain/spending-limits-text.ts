import { MAX_CREDITS, microFromCredits } from './credits.ts';
import { LIMIT_PERIODS } from './limit-periods.ts';
import type { WireLimit } from './spending-limits.ts';

/** Limits as a user types them on the page and in the CLI: `5h=2, monthly=100`; "" for none. */
export function limitsText(limits: readonly WireLimit[]): string {
  return limits.map(({ period, credits }) => `${period}=${credits}`).join(', ');
}

/** Parses what `limitsText` writes. `fault`: a sentence about the first part that is wrong. */
export function readLimits(text: string): {
  readonly limits: readonly WireLimit[];
  readonly fault?: string;
} {
  const limits: WireLimit[] = [];
  for (const part of text.split(',').filter((one) => one.trim() !== '')) {
    const [, name, digits] = /^\s*(\w+)\s*=\s*(\d+(?:\.\d+)?)\s*$/.exec(part) ?? [];
    const period = LIMIT_PERIODS.find((known) => known === name?.toLowerCase());
    const credits = Number(digits);
    if (!period || microFromCredits(credits) === undefined) {
      const fault =
        `“${part.trim()}” is no limit such as monthly=100. Write a period (${LIMIT_PERIODS.join(', ')}), an equals sign, ` +
        `and credits with at most six decimals, up to ${MAX_CREDITS}.`;
      return { limits: [], fault };
    }
    if (limits.some((other) => other.period === period)) {
      return { limits: [], fault: `“${period}” occurs twice. A period can have one limit.` };
    }
    limits.push({ period, credits });
  }
  return { limits };
}
