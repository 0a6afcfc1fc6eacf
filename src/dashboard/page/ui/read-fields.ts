import { GatewayError } from '../../../domain/errors.ts';
import { ApiFailure } from '../data/api-failure.ts';

/** A draft that was read: the fields as the API takes them, without those that are wrong, and the faults of these. */
export interface ReadDraft<Body> {
  readonly body: Partial<Body>;
  readonly faults: Readonly<Record<string, string>>;
}

/** Reads a draft field by field; what a reader throws is the fault of its field. */
export function readFields<Body extends object>(
  readers: { readonly [F in keyof Body]?: () => Body[F] },
): ReadDraft<Body> {
  const body: Partial<Body> = {};
  const faults: Record<string, string> = {};
  for (const field of Object.keys(readers) as (keyof Body & string)[]) {
    try {
      body[field] = readers[field]?.();
    } catch (error) {
      if (!(error instanceof GatewayError || error instanceof ApiFailure)) throw error;
      faults[field] = error.message;
    }
  }
  return { body, faults };
}
