import type { AnswerOptions } from './answer.ts';

/**
 * The answer to one path: an object is sent as JSON, a list as the events of a stream, undefined is a 400. The
 * same request and options give the same answer, byte for byte.
 */
export type DemoRoute = (
  json: Readonly<Record<string, unknown>>,
  body: Buffer,
  options: AnswerOptions,
) => Record<string, unknown> | string[] | undefined;
