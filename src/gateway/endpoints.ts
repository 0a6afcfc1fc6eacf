import type { WireFormat } from '../domain/catalog.ts';
import type { Category } from '../domain/key.ts';

/** How the body of a call is read and judged. */
export type BodyKind = 'json';
/** Which fields of the answer hold what was used, and in which shape the stream comes. */
export type UsageKind = 'chat';
/** Which fields of the request bound what the call can cost. */
export type BoundKind = 'chat';

/** One forwarded endpoint of contract section 4. A new endpoint is a row in ENDPOINTS. */
export interface Endpoint {
  readonly method: 'POST';
  readonly path: string;
  readonly category: Category;
  /** Upstreams that speak this; also the shape of errors. */
  readonly format: WireFormat;
  readonly body: BodyKind;
  readonly usage: UsageKind;
  readonly bound: BoundKind;
}

export const ENDPOINTS: readonly Endpoint[] = [
  {
    method: 'POST',
    path: '/v1/chat/completions',
    category: 'text',
    format: 'openai',
    body: 'json',
    usage: 'chat',
    bound: 'chat',
  },
];
