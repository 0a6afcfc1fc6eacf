import { type Answer, type AnswerOptions, json, typedEvents } from './answer.ts';
import { wavSeconds } from './wav.ts';

const BYTES_PER_SECOND = 16_000;

/** A transcript in the requested format, whose text states the length of the audio. The sound is not analysed. */
export function answerTranscript(fields: Record<string, unknown>, options: AnswerOptions): Answer {
  const audio = Buffer.isBuffer(fields.file) ? fields.file : Buffer.alloc(0);
  const exact = wavSeconds(audio) ?? audio.length / BYTES_PER_SECOND;
  const seconds = Math.ceil(exact);
  const text = options.text ?? `This is Tollgate's built-in demo model. You sent ${seconds} s of audio.`;
  const usage = options.usage ?? { type: 'duration', seconds };
  const reported = usage ? { usage } : {};
  if (fields.stream === true || fields.stream === 'true') {
    const words = text.match(/\s*\S+/g) ?? [];
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
