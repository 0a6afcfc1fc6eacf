import type { Test } from 'tap';
import type { Config } from '../../../src/config/config.ts';
import type { Model } from '../../../src/domain/catalog.ts';
import type { Category } from '../../../src/domain/key.ts';
import type { LedgerEntry } from '../../../src/domain/ledger-entry.ts';
import type { Unit } from '../../../src/domain/units.ts';
import { creditPrice } from '../fixtures/credit-price.ts';
import {
  type Behavior,
  type ReceivedRequest,
  startScriptedProvider,
} from '../stand-ins/scripted-provider.ts';
import {
  type InProcessGateway,
  lastCharge,
  startGatewayInProcess,
  type TestAccount,
  testCatalog,
} from './gateway-in-process.ts';

export interface MediaGateway extends InProcessGateway {
  post(
    key: string,
    path: string,
    body: string | FormData | Uint8Array<ArrayBuffer>,
    headers?: Record<string, string>,
  ): Promise<Response>;
  /** Waits until the newest entry of the account is a charge, and resolves with it. */
  charged(account: TestAccount): Promise<LedgerEntry>;
  /** Waits until everything is settled, and resolves with the account's balance and holds. */
  held(account: TestAccount): Promise<{ balance: number; held: number }>;
}

/**
 * Starts a gateway with models for pictures, speech, transcripts and videos. Prices in credits: `picture` 1 an image;
 * `painter`, `talker` and `scribe` 1 per 1,000 input and 2 per 1,000 output tokens; `voice` 0.001 a character; `ears`
 * 0.01 a second; `film` 0.5 a second and 0.25 a request. Models named `…-renamed` have another, longer name at the
 * upstream.
 */
export async function startMediaGateway(
  t: Test,
  behave: (request: ReceivedRequest) => Behavior | undefined = () => undefined,
  config: Partial<Config> = {},
): Promise<MediaGateway> {
  const provider = await startScriptedProvider({ behave });
  t.teardown(() => provider.close());
  const catalog = mediaCatalog(provider.url);
  return withMedia(await startGatewayInProcess(t, { provider, config: { ...config, catalog } }));
}

export function mediaCatalog(url: string): Map<string, Model> {
  const catalog = new Map(testCatalog(url));
  const upstream = catalog.get('flat')?.upstream;
  if (!upstream) throw new Error('no upstream');
  const add = (slug: string, category: Category, credits: Partial<Record<Unit, number>>, name = slug) => {
    const model: Model = {
      slug,
      upstream,
      upstreamModel: name,
      category,
      maxOutputTokens: 500,
      price: creditPrice(credits),
      priceSource: 'config',
    };
    catalog.set(slug, model);
  };
  const tokens = { input: 1_000, cachedInput: 1_000, output: 2_000 };
  add('painter', 'image', tokens);
  add('picture-renamed', 'image', { image: 1 }, 'p');
  add('voice', 'tts', { character: 1_000 });
  add('talker', 'tts', tokens);
  add('ears', 'stt', { audioSecond: 0.01 });
  add('ears-renamed', 'stt', { audioSecond: 0.01 }, 'upstream-ears-with-a-longer-name');
  add('scribe', 'stt', tokens);
  add('film', 'video', { videoSecond: 0.5, request: 0.25 });
  add('film-renamed', 'video', { videoSecond: 0.5 }, 'upstream-film');
  return catalog;
}

export function withMedia(world: InProcessGateway): MediaGateway {
  return {
    ...world,
    post: (key, path, body, headers = {}) =>
      fetch(`${world.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, ...headers },
        body,
      }),
    charged: ({ accountId }) => lastCharge(world, accountId),
    async held({ accountId }) {
      await world.settled();
      return await world.ledger.ledger.account(accountId);
    },
  };
}

/** Silence of `seconds` as a WAV file: one channel, 16 bit, 8 kHz. */
export function silentWav(seconds: number): Buffer<ArrayBuffer> {
  const bytes = Math.round(seconds * 8_000) * 2;
  const wav = Buffer.alloc(44 + bytes);
  wav.write('RIFF', 0);
  wav.writeUInt32LE(36 + bytes, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(8_000, 24);
  wav.writeUInt32LE(16_000, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36);
  wav.writeUInt32LE(bytes, 40);
  return wav;
}

/** MPEG 1 layer III frames of 128 kbit/s at 44.1 kHz: 1,152 samples each. */
export function mp3Frames(frames: number): Buffer<ArrayBuffer> {
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0xc0]);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
}
