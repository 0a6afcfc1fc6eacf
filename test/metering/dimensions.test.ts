import { readFileSync } from 'node:fs';
import { test } from 'tap';
import type { Model } from '../../src/domain/catalog.ts';
import { chargeFor, multiplierOf } from '../../src/domain/price.ts';
import { UNIT_NAMES, unitRow } from '../../src/domain/units.ts';
import { ENDPOINTS } from '../../src/gateway/endpoints.ts';
import { JsonSieve } from '../../src/metering/json/sieve.ts';
import { ANSWER_SHAPE, type Meter, type MeteredBody, type StreamMeter } from '../../src/metering/meter.ts';
import { sifted } from '../../src/metering/sse/event.ts';
import { EventReader } from '../../src/metering/sse/event-reader.ts';
import { DIMENSIONS } from '../helper/fixtures/dimension-answers.ts';
import {
  type DimensionRow,
  eventTexts,
  everyModel,
  microsOf,
  SDKS,
} from '../helper/fixtures/dimension-row.ts';

const MODELS = everyModel('http://127.0.0.1');
const PIECE = 1_000;

function meterOf({ path }: DimensionRow): Meter {
  const endpoint = ENDPOINTS.find((one) => one.path === path);
  if (!endpoint) throw new Error(`no endpoint ${path}`);
  return endpoint.meter;
}

function bodyOf({ model, body }: DimensionRow): MeteredBody {
  return {
    kind: 'json',
    model: MODELS.get(model) as Model,
    value: { model, ...body },
    isStream: false,
    textBytes: 100,
    files: 0,
    audio: { seconds: 2, how: 'measured', bytes: 32_044 },
    elidedStrings: undefined,
    hints: undefined,
  };
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1');

/** What the gateway keeps of an answer that is too large to hold. */
function sieved(answer: unknown): unknown {
  const sieve = new JsonSieve(ANSWER_SHAPE);
  const text = latin1(JSON.stringify(answer));
  for (let at = 0; at < text.length; at += PIECE) sieve.push(text.slice(at, at + PIECE));
  return sieve.value;
}

interface Read {
  readonly usage: unknown;
  readonly serviceTiers: readonly string[] | undefined;
  readonly isEstimated: boolean;
}

function expected({ usage, tiers, isEstimated }: DimensionRow): Read {
  return { usage, serviceTiers: tiers, isEstimated: isEstimated === true };
}

const readOf = ({ usage, terms, isEstimated = false }: StreamMeter): Read => ({
  usage,
  serviceTiers: terms?.serviceTiers,
  isEstimated,
});

test('the SDKs that the table names are those installed', async (t) => {
  for (const [name, version] of Object.entries(SDKS)) {
    const url = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
    t.equal(JSON.parse(readFileSync(url, 'utf8')).version, version, name);
  }
});

test('every unit of tokens and searches has an answer that reports it', async (t) => {
  const reported = new Set(DIMENSIONS.flatMap(({ usage }) => Object.keys(usage)));
  for (const unit of UNIT_NAMES) {
    const { usage, tokens, per } = unitRow(unit);
    if (tokens !== null || per === 1_000) t.ok(reported.has(usage), unit);
  }
});

for (const row of DIMENSIONS) {
  const { what, from, path, json, events } = row;
  test(`${path}: ${what} (${from})`, async (t) => {
    const [meter, unread] = [meterOf(row), bodyOf(row)];
    const body = { ...unread, hints: meter.plan(unread).hints };
    if (json) {
      for (const answer of [json, sieved(json)]) {
        const read = {
          usage: meter.usage(answer, body),
          serviceTiers: meter.terms?.(answer, body)?.serviceTiers,
          isEstimated: meter.isEstimated?.(answer) ?? false,
        };
        t.same(read, expected(row), answer === json ? 'whole' : 'sieved');
      }
    }
    if (events) {
      const stream = meter.stream(false, body);
      const reader = new EventReader(stream);
      reader.push(Buffer.from(eventTexts(row).join('')));
      while (reader.next() !== undefined);
      t.same(readOf(stream), expected(row), 'streamed');
      const large = meter.stream(false, body);
      for (const event of eventTexts(row)) {
        // Anthropic's event with the last counts has no part that can be large.
        const isSmall = event.includes('message_delta');
        large.event(isSmall ? latin1(event) : sifted(latin1(event), large.kept));
      }
      t.same(readOf(large), expected(row), 'streamed in events too large to be held');
    }
    const multiplier = multiplierOf(body.model.price, row.tiers ?? []);
    t.equal(multiplier, Math.round((row.times ?? 1) * 1e6));
    t.equal(chargeFor(body.model.price, { ...row.usage, requests: 1 }, multiplier), microsOf(row));
  });
}
