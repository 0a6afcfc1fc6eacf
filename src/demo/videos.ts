import { randomBytes } from 'node:crypto';
import { type Answer, createdAt, failure, json } from './answer.ts';
import { pictureOf } from './picture.ts';

/** Maximum stored jobs; drops the oldest, as providers do. */
const MAX_JOBS = 1_000;
const JOB_PATH = /^\/v1\/videos\/([^/]+)(\/content)?$/;
/** States of a job; each read advances it. */
const STEPS = ['queued', 'in_progress', 'completed'] as const;

interface Job {
  readonly id: string;
  readonly model: string;
  readonly prompt: string;
  readonly seconds: number;
  readonly size: string;
  readonly createdS: number;
  asked: number;
}

/**
 * Jobs of `/v1/videos`. A job starts queued, is in progress at its first read, then completes, or fails if its prompt
 * contains the word "fail". The video is empty and has the requested length.
 */
export class DemoVideos {
  readonly #jobs = new Map<string, Job>();

  create(fields: Record<string, unknown>): Answer {
    const seconds = Number(fields.seconds ?? 4);
    if (typeof fields.prompt !== 'string' || !(seconds > 0 && seconds <= 3_600)) {
      return failure(400, 'The demo provider needs a prompt, and seconds as a number.');
    }
    const job: Job = {
      id: `video_${randomBytes(16).toString('hex')}`,
      model: String(fields.model),
      prompt: fields.prompt,
      seconds,
      size: typeof fields.size === 'string' ? fields.size : '720x1280',
      createdS: createdAt({}),
      asked: 0,
    };
    this.#jobs.set(job.id, job);
    for (const id of this.#jobs.keys()) {
      if (this.#jobs.size <= MAX_JOBS) break;
      this.#jobs.delete(id);
    }
    return json(200, view(job));
  }

  /** Answers a request about a job; undefined if `url`, which may have a query, is not a job's path. */
  answer(method: string, url: string): Answer | undefined {
    const { pathname, searchParams } = new URL(url, 'http://demo');
    const [, id = '', content] = JOB_PATH.exec(pathname) ?? [];
    if (id === '' || (method !== 'GET' && (method !== 'DELETE' || content))) return undefined;
    const job = this.#jobs.get(id);
    if (!job) return failure(404, `The demo provider has no video ${id}.`);
    if (content) return contentOf(job, searchParams.get('variant') ?? 'video');
    if (method === 'GET') {
      job.asked++;
      return json(200, view(job));
    }
    this.#jobs.delete(id);
    return json(200, { id, object: 'video.deleted', deleted: true });
  }
}

function statusOf({ asked, prompt }: Job): (typeof STEPS)[number] | 'failed' {
  const step = STEPS[Math.min(asked, STEPS.length - 1)] ?? 'queued';
  return step === 'completed' && /\bfail\b/i.test(prompt) ? 'failed' : step;
}

function view(job: Job) {
  const { id, model, prompt, seconds, size, createdS } = job;
  const status = statusOf(job);
  const isOver = status === 'completed' || status === 'failed';
  return {
    id,
    object: 'video',
    model,
    status,
    progress: status === 'completed' ? 100 : status === 'queued' ? 0 : 50,
    created_at: createdS,
    completed_at: isOver ? createdS : null,
    expires_at: null,
    prompt,
    seconds: String(seconds),
    size,
    remixed_from_video_id: null,
    error: status === 'failed' ? { code: 'demo_failure', message: 'The prompt asked for it.' } : null,
  };
}

function contentOf(job: Job, variant: string): Answer {
  if (statusOf(job) !== 'completed') return failure(404, 'This video is not completed.');
  const isFilm = variant === 'video';
  const bytes = isFilm ? emptyMp4(job.seconds) : pictureOf(job.size);
  return {
    status: 200,
    headers: { 'content-type': isFilm ? 'video/mp4' : 'image/png', 'content-length': bytes.length },
    pieces: [bytes],
  };
}

/** Time units of the file per second. */
const TIMESCALE = 1_000;

/** An MP4 file of the given length without tracks; players and probes accept its header. */
function emptyMp4(seconds: number): Buffer {
  const brands = Buffer.from('isom\0\0\x02\0isommp41', 'latin1');
  const header = Buffer.alloc(100);
  header.writeUInt32BE(TIMESCALE, 12);
  header.writeUInt32BE(seconds * TIMESCALE, 16);
  // Rate and volume 1, and the identity as a matrix (ISO/IEC 14496-12, "Movie Header Box").
  header.writeUInt32BE(0x0001_0000, 20);
  header.writeUInt16BE(0x0100, 24);
  header.writeUInt32BE(0x0001_0000, 36);
  header.writeUInt32BE(0x0001_0000, 52);
  header.writeUInt32BE(0x4000_0000, 68);
  header.writeUInt32BE(1, 96);
  return Buffer.concat([box('ftyp', brands), box('moov', box('mvhd', header))]);
}

function box(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
}
