import type { Usage } from '../domain/ledger-entry.ts';
import { holdFor } from '../domain/price.ts';
import { ImageStream } from './image-stream.ts';
import type { Bounds, Meter } from './meter.ts';
import type { MeteredBody } from './metered-body.ts';
import { countOf } from './metered-body.ts';
import { isPricedByToken } from './priced-by-token.ts';
import { reportedTokens } from './reported-tokens.ts';
import { saysError } from './says-error.ts';

/** Tokens that frame a prompt, about. */
const REQUEST_OVERHEAD = 64;

/** Images that a request asks for; providers make one where it does not say. */
function imagesAsked(body: MeteredBody): number {
  return Math.max(1, countOf(body, 'n') ?? 1);
}

/**
 * `/v1/images/generations`, `/v1/images/edits`, `/v1/images/variations`: n × the price per image, exactly. Where tokens have
 * a price (specification section 5: "or tokens where priced so"), their bound is the prompt's bytes, `imageTokens` for each
 * uploaded picture or mask, and `maxOutputTokens` for each picture asked for, its partial versions included.
 */
export const images: Meter = {
  hold(body: MeteredBody, { imageTokens }: Bounds) {
    const asked = imagesAsked(body);
    return holdFor(body.model.price, {
      images: asked,
      input: body.textBytes + REQUEST_OVERHEAD + body.files * imageTokens,
      output: body.model.maxOutputTokens * asked,
    });
  },
  usage(answer: unknown, body: MeteredBody): Usage | undefined {
    const { data, usage } = (answer ?? {}) as { data?: unknown; usage?: unknown };
    const tokens = reportedTokens(usage);
    if (!Array.isArray(data) || (!tokens && isPricedByToken(body.model))) return undefined;
    return { images: data.length, ...tokens };
  },
  written: () => '',
  failed: saysError,
  stream: (_injectedUsage, body) => new ImageStream(body.model, imagesAsked(body)),
  /** Tokens that nobody reported: the prompt's are counted, a picture's taken for the most that it can have. */
  async estimate(body, _written, count) {
    const { prompt } = body.value;
    const asked = imagesAsked(body);
    const input = typeof prompt === 'string' && isPricedByToken(body.model) ? await count(prompt) : 0;
    return { images: asked, input, output: body.model.maxOutputTokens * asked };
  },
};
