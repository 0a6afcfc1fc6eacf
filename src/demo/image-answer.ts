import { type Answer, type AnswerOptions, json, typedEvents } from './answer.ts';
import { tokensIn } from './chat-request.ts';
import { countIn } from './fields.ts';

/** One pixel, as a PNG. */
export const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const CREATED_S = 1_735_689_600;
const TOKENS_PER_IMAGE = 100;

/** The answer of `/v1/images/…`: pictures of one pixel. `event` begins the names of a stream's events. */
export function answerImages(
  fields: Record<string, unknown>,
  event: 'image_generation' | 'image_edit',
  options: AnswerOptions,
): Answer {
  const images = countIn(fields.n) ?? 1;
  const prompt = typeof fields.prompt === 'string' ? tokensIn(fields.prompt) : 0;
  const usageOf = (count: number) =>
    options.usage ?? {
      input_tokens: prompt,
      output_tokens: count * TOKENS_PER_IMAGE,
      total_tokens: prompt + count * TOKENS_PER_IMAGE,
    };
  const reported = (count: number) => {
    const usage = usageOf(count);
    return usage ? { usage } : {};
  };
  if (fields.stream === true || fields.stream === 'true') {
    const partials = countIn(fields.partial_images) ?? 0;
    const one = [
      ...Array.from({ length: partials }, (_, index) => ({
        type: `${event}.partial_image`,
        partial_image_index: index,
        b64_json: PNG,
      })),
      { type: `${event}.completed`, b64_json: PNG, ...reported(1) },
    ];
    return typedEvents(Array.from({ length: images }, () => one).flat());
  }
  return json(200, {
    created: CREATED_S,
    data: Array.from({ length: images }, () => ({ b64_json: PNG })),
    ...reported(images),
  });
}
