import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';

const SRC = new URL('../src', import.meta.url).pathname;

/** Words that were private language or had two meanings, and what is said today (docs/architecture.md, the words). */
const RETIRED: readonly (readonly [word: RegExp, today: string])[] = [
  [/judg/i, 'authorize, parse, check or inspect, as it is meant'],
  [/\bnew Turns\b|: Turns\b|\bendTurn\b/, 'WeightedSemaphore, release'],
  [/\bSlots\b/, 'FairSemaphore, permits'],
  [/RecentSettles|recent-settles/, 'ReplayBuffer'],
  [/LostAdmissions|lost-admissions/, 'UnansweredAdmissions'],
  [/entryAnew|entry-anew|repost|superseded/, 'posted; an account is astray'],
  [/\b(?:holds|journal)Name\b/, 'holdsRedisKey, journalRedisKey'],
  [/condens|LongText/i, 'elide, ElidedString'],
  [/\bwrittenIn\b|WrittenText|written-text/, 'output text'],
  [/\bcorrectedBy\b/, 'mergeReported'],
  [/\bdescribeOffer\b/, 'the catalog'],
  [/OwnRedis|own-redis/, 'startPrivateRedisFor'],
  [/pagesLater|pages-later/, 'lazyPages'],
  [/[hH]angUps|hang-ups/, 'HangupSignal'],
  [/returnMemory|return-memory/, 'trimStartupHeap'],
  [/GatewayMeters|\bMeters\b/, 'call metrics'],
  [/\b(?:class|new|type) Objects\b/, 'provider resources, resource ownership'],
  [/\bcontract['’s]*\s+(?:[*/-]+\s*)?sections?\b/i, 'specification section'],
  [/\bthe seed\b|\(seed,|\bSeed, "/, 'specification section'],
];

/** Where retired words stand in these files, given as path below src → source: a line each. */
function retiredWords(files: ReadonlyMap<string, string>): string[] {
  const faults: string[] = [];
  for (const [path, source] of files) {
    for (const [word, today] of RETIRED) {
      const inPath = word.exec(path);
      if (inPath) faults.push(`${path}: its name has "${inPath[0]}"; today: ${today}`);
      for (const found of source.matchAll(new RegExp(word, `${word.flags}g`))) {
        const line = source.slice(0, found.index).split('\n').length;
        faults.push(`${path}:${line}: "${found[0]}"; today: ${today}`);
      }
    }
  }
  return faults;
}

test('no retired word is used in src, in names, comments or texts', async (t) => {
  const paths = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.(ts|tsx|mjs|lua)$/.test(path),
  );
  t.ok(paths.includes('domain/credits.ts'), 'the files are found');
  t.same(retiredWords(new Map(paths.map((path) => [path, readFileSync(join(SRC, path), 'utf8')]))), []);
});

test('a retired word is found in a path, an identifier and a comment that is broken over two lines', async (t) => {
  const files = new Map([
    ['gateway/hang-ups.ts', 'export const preJudged = 1;\n'],
    ['gateway/fine.ts', '/**\n * As it must be (contract\n * section 4).\n */\nexport const contract = 1;\n'],
  ]);
  t.same(
    retiredWords(files).map((fault) => fault.split(';')[0]),
    [
      'gateway/hang-ups.ts:1: "Judg"',
      'gateway/hang-ups.ts: its name has "hang-ups"',
      'gateway/fine.ts:2: "contract\n * section"',
    ],
  );
});
