import type { AnswerOptions } from './answer.ts';

/**
 * Handler of one path. An object is sent as JSON, a list as the events of a stream, and undefined as a 400. The answer
 * depends on the request and the options alone, byte for byte.
 */
export type DemoRoute = (
  json: Readonly<Record<string, unknown>>,
  body: Buffer,
  options: AnswerOptions,
) => Record<string, unknown> | string[] | undefined;
