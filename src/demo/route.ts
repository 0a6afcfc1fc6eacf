import type { Behaviour } from './behaviour.ts';

/**
 * How the demo answers one path: an object is sent as JSON, a list as the events of a stream, undefined is a 400. The
 * same request and behaviour give the same answer, byte for byte.
 */
export type DemoRoute = (
  json: Readonly<Record<string, unknown>>,
  body: Buffer,
  behaviour: Behaviour,
) => Record<string, unknown> | string[] | undefined;
