import type { Model } from '../domain/catalog.ts';

/** Models whose output tokens OpenAI documents, with and without the date of a snapshot. */
const BY_TABLE = /^gpt-image-1(?:-mini|\.5)?(?:-\d{4}-\d{2}-\d{2})?$/;
const BY_AREA = /^gpt-image-2(?:-\d{4}-\d{2}-\d{2})?$/;

type Quality = 'low' | 'medium' | 'high';

/** Output tokens of a picture by quality and size (OpenAI, image generation, "Cost and latency"). */
const TABLE: Readonly<Record<Quality, Readonly<Record<string, number>>>> = {
  low: { '1024x1024': 272, '1024x1536': 408, '1536x1024': 400 },
  medium: { '1024x1024': 1_056, '1024x1536': 1_584, '1536x1024': 1_568 },
  high: { '1024x1024': 4_160, '1024x1536': 6_240, '1536x1024': 6_208 },
};
/**
 * Rows and columns of a picture of gpt-image-2, whose size is free. By OpenAI's calculator its tokens are both multiplied, the
 * shorter side in proportion, and times (2,000,000 + pixels) / 4,000,000.
 */
const SIDE: Readonly<Record<Quality, number>> = { low: 16, medium: 48, high: 96 };
/** Most pixels of a picture of gpt-image-2, 3,840 by 2,160. */
const MAX_PIXELS = 8_294_400;
/** Output tokens of a sketch that comes before a streamed picture, and the most sketches of one. */
const SKETCH_TOKENS = 100;
const MAX_SKETCHES = 3;
/** Frames of a GIF, where the request does not say and at most (`frame_count`). */
const DEFAULT_FRAMES = 9;
const MAX_FRAMES = 16;

/**
 * Most output tokens of one picture as a request asks for it: by quality and size where its vendor documents them, else the
 * model's `maxOutputTokens`. What the request leaves to the vendor counts as the dearest.
 */
export function pictureTokens(
  { upstreamModel, maxOutputTokens }: Pick<Model, 'upstreamModel' | 'maxOutputTokens'>,
  value: Readonly<Record<string, unknown>>,
): number {
  const { quality, size, partial_images: sketches, complexity } = value;
  // Frames and planning are in no table: each frame may be a picture of its own.
  if (value.output_format === 'gif') return framesOf(value.frame_count) * maxOutputTokens;
  if ((complexity ?? null) !== null) return maxOutputTokens;
  const documented = documentedTokens(upstreamModel, qualityOf(quality), size ?? 'auto');
  if (documented === undefined) return maxOutputTokens;
  const partial = Number(sketches ?? 0);
  const many = partial >= 0 && partial <= MAX_SKETCHES ? Math.ceil(partial) : MAX_SKETCHES;
  return documented + many * SKETCH_TOKENS;
}

function framesOf(count: unknown): number {
  if (count === undefined || count === null) return DEFAULT_FRAMES;
  const frames = Number(count);
  return frames >= 1 && frames <= MAX_FRAMES ? Math.ceil(frames) : MAX_FRAMES;
}

/** The quality that is asked for; the highest where the vendor chooses. */
function qualityOf(quality: unknown): Quality | undefined {
  if (quality === undefined || quality === null || quality === 'auto') return 'high';
  return quality === 'low' || quality === 'medium' || quality === 'high' ? quality : undefined;
}

function documentedTokens(name: string, quality: Quality | undefined, size: unknown): number | undefined {
  if (quality === undefined) return undefined;
  const sizes = TABLE[quality];
  if (BY_TABLE.test(name)) {
    if (size === 'auto') return Math.max(...Object.values(sizes));
    return Object.hasOwn(sizes, String(size)) ? sizes[String(size)] : undefined;
  }
  if (!BY_AREA.test(name)) return undefined;
  const [, width, height] = /^([1-9]\d{1,3})x([1-9]\d{1,3})$/.exec(String(size)) ?? [];
  const pixels = width && height ? Number(width) * Number(height) : MAX_PIXELS;
  if (pixels > MAX_PIXELS || (width === undefined && size !== 'auto')) return undefined;
  const share = width && height ? sideShare(Number(width), Number(height)) : 1;
  const [long, short] = [SIDE[quality], Math.round(SIDE[quality] * share)];
  const byArea = Math.ceil((long * short * (2_000_000 + pixels)) / 4_000_000);
  return Math.max(byArea, sizes[String(size)] ?? 0);
}

function sideShare(width: number, height: number): number {
  return Math.min(width, height) / Math.max(width, height);
}
