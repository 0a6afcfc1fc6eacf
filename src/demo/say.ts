import { createHash } from 'node:crypto';
import type { AnswerOptions } from './answer.ts';
import { firstTokens } from './chat-request.ts';

/** Creation time in all answers, in seconds since the epoch. It is fixed, so that equal requests get equal bytes. */
export const CREATED_S = 1_735_689_600;
/** Arguments of every tool call that the demo makes. */
export const TOOL_ARGUMENTS = '{}';

/** The text that a demo model answers to a question, cut off after `maxTokens`. */
export function say(
  question: string,
  maxTokens: number | undefined,
  options: AnswerOptions,
): { text: string; isCut: boolean } {
  const whole =
    options.text ??
    `This is Tollgate's built-in demo model, with no AI behind it. You said: ${question.slice(0, 1_000)}`;
  const text = maxTokens === undefined ? whole : firstTokens(whole, maxTokens);
  return { text, isCut: text !== whole };
}

/** An id made from a hash of the request, so that equal requests get equal bytes. */
export function idOf(prefix: string, body: Buffer): string {
  return prefix + createHash('sha256').update(body).digest('hex').slice(0, 24);
}

/** Cuts a text into `parts` pieces of nearly equal length in characters; without `parts`, into words. */
export function cut(text: string, parts?: number): string[] {
  if (parts === undefined) return text.match(/\s*\S+|\s+$/g) ?? [];
  const characters = [...text];
  return Array.from({ length: parts }, (_, part) => {
    const start = Math.floor((part * characters.length) / parts);
    return characters.slice(start, Math.floor(((part + 1) * characters.length) / parts)).join('');
  });
}
