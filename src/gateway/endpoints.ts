import type { WireFormat } from '../domain/catalog.ts';
import type { Category } from '../domain/key.ts';
import { chat } from './meter/chat.ts';
import type { Meter } from './meter/meter.ts';

/** How the body of a call is read and judged. */
export type BodyKind = 'json';

/** One forwarded endpoint of contract section 4. A new endpoint is a row in ENDPOINTS. */
export interface Endpoint {
  readonly method: 'POST';
  readonly path: string;
  readonly category: Category;
  /** Upstreams that speak this; also the shape of errors. */
  readonly format: WireFormat;
  readonly body: BodyKind;
  /** What a call may cost, and what it used. */
  readonly meter: Meter;
  /** A stream reports usage only when asked: `stream_options.include_usage`. */
  readonly asksForUsage: boolean;
}

export const ENDPOINTS: readonly Endpoint[] = [
  {
    method: 'POST',
    path: '/v1/chat/completions',
    category: 'text',
    format: 'openai',
    body: 'json',
    meter: chat,
    asksForUsage: true,
  },
];
