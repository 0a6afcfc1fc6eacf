import { type Answer, type AnswerOptions, createdAt, cut, json, typedEvents } from './answer.ts';
import { pictureOf } from './picture.ts';
import { countIn, tokensIn } from './read-request.ts';
import { wavSeconds } from './speech.ts';

const TOKENS_PER_IMAGE = 100;

/** Answers `/v1/images/…` with pictures of one color. `event` prefixes the names of stream events. */
export function answerImages(
  fields: Record<string, unknown>,
  event: 'image_generation' | 'image_edit',
  options: AnswerOptions,
): Answer {
  const images = countIn(fields.n) ?? 1;
  const b64_json = pictureOf(fields.size).toString('base64');
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
        b64_json,
      })),
      { type: `${event}.completed`, b64_json, ...reported(1) },
    ];
    return typedEvents(Array.from({ length: images }, () => one).flat());
  }
  return json(200, {
    created: createdAt(options),
    data: Array.from({ length: images }, () => ({ b64_json })),
    ...reported(images),
  });
}

const BYTES_PER_SECOND = 16_000;

/** Transcript in the requested format; its text states the audio's length. The sound is not analyzed. */
export function answerTranscript(fields: Record<string, unknown>, options: AnswerOptions): Answer {
  const audio = Buffer.isBuffer(fields.file) ? fields.file : Buffer.alloc(0);
  const exact = wavSeconds(audio) ?? audio.length / BYTES_PER_SECOND;
  const seconds = Math.ceil(exact);
  const text = options.text ?? `This is Tollgate's built-in demo model. You sent ${seconds} s of audio.`;
  const usage = options.usage ?? { type: 'duration', seconds };
  const reported = usage ? { usage } : {};
  if (fields.stream === true || fields.stream === 'true') {
    const words = cut(text);
    return typedEvents([
      ...words.map((delta) => ({ type: 'transcript.text.delta', delta })),
      { type: 'transcript.text.done', text, ...reported },
    ]);
  }
  switch (fields.response_format) {
    case 'text':
      return plain('text/plain; charset=utf-8', `${text}\n`);
    case 'srt':
      return plain('text/plain; charset=utf-8', `1\n00:00:00,000 --> ${clock(seconds, ',')}\n${text}\n\n`);
    case 'vtt':
      return plain(
        'text/vtt; charset=utf-8',
        `WEBVTT\n\n00:00:00.000 --> ${clock(seconds, '.')}\n${text}\n\n`,
      );
    case 'verbose_json':
      return json(200, {
        task: 'transcribe',
        language: 'english',
        duration: exact,
        text,
        segments: [],
        ...reported,
      });
    default:
      return json(200, { text, ...reported });
  }
}

function plain(type: string, text: string): Answer {
  return { status: 200, headers: { 'content-type': type }, pieces: [text] };
}

function clock(seconds: number, mark: string): string {
  return `${new Date(seconds * 1_000).toISOString().slice(11, 19)}${mark}000`;
}
