import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';

const ROOT = new URL('..', import.meta.url).pathname;

type Retired = readonly (readonly [word: RegExp, today: string])[];

/** Words that were private language or had two meanings, and what is said today (docs/architecture.md, the words). */
const RETIRED: Retired = [
  [/judg/i, 'authorize, parse, check or inspect, as it is meant'],
  [/\bnew Turns\b|: Turns\b|\bendTurn\b/, 'FairPool, release'],
  [/RecentSettles|recent-settles/, 'ReplayBuffer'],
  [/LostAdmissions|lost-admissions/, 'UnansweredAdmissions'],
  [/entryAnew|entry-anew|repost|superseded/, 'posted; an account is diverged'],
  [/\b(?:holds|journal)Name\b/, 'holdsRedisKey, journalRedisKey'],
  [/condens|LongText/i, 'elide, ElidedString'],
  [/\bwrittenIn\b|WrittenText|written-text/, 'output text'],
  [/\bcorrectedBy\b/, 'mergeReported'],
  [/OwnRedis|own-redis/, 'startPrivateRedisFor'],
  [/pagesLater|pages-later/, 'lazyPages'],
  [/[hH]angUps|hang-ups/, 'HangupSignal'],
  [/returnMemory|return-memory/, 'trimStartupHeap'],
  [/GatewayMeters|\bMeters\b/, 'call metrics'],
  [/\b(?:class|new|type) Objects\b/, 'provider resources, resource ownership'],
];

/** Words that are retired in src alone. Elsewhere they mean something else, such as the seed of a random test. */
const RETIRED_IN_SRC: Retired = [
  ...RETIRED,
  [/\bSlots\b/, 'FairPool, permits'],
  [/\bdescribeOffer\b|\bchangesOffer\b/, 'the catalog'],
  [/\bcontract['’s]*\s+(?:[*/-]+\s*)?sections?\b/i, 'specification section'],
  [/\bthe seed\b|\(seed,|\bSeed, "/, 'specification section'],
];

/** Where these files use retired words, one a line. The files are given as path → source. */
function retiredWords(files: ReadonlyMap<string, string>, retired: Retired): string[] {
  const faults: string[] = [];
  for (const [path, source] of files) {
    for (const [word, today] of retired) {
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

/** The files below a folder of the repository whose names the pattern matches, by their path below it. */
function filesBelow(folder: string, names: RegExp): Map<string, string> {
  const base = join(ROOT, folder);
  const paths = readdirSync(base, { recursive: true, encoding: 'utf8' }).filter((path) => names.test(path));
  return new Map(paths.map((path) => [path, readFileSync(join(base, path), 'utf8')]));
}

test('no retired word is used in src, in names, comments or texts', async (t) => {
  const files = filesBelow('src', /\.(ts|tsx|mjs|lua|md)$/);
  t.ok(files.has('domain/credits.ts'), 'the files are found');
  t.same(retiredWords(files, RETIRED_IN_SRC), []);
});

test('no retired word is used in tests, benches, pages and what is deployed', async (t) => {
  for (const folder of ['test', 'bench', 'docs', 'config']) {
    const files = filesBelow(folder, /\.(ts|md|svg|ya?ml|json|cfg)$/);
    files.delete('words.test.ts');
    t.ok(files.size > 0, `files are found in ${folder}`);
    t.same(retiredWords(files, RETIRED), [], folder);
  }
  const pages = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
  t.same(
    retiredWords(new Map(pages.map((name) => [name, readFileSync(join(ROOT, name), 'utf8')])), RETIRED),
    [],
  );
});

test('a retired word is found in a path, an identifier and a comment that is broken over two lines', async (t) => {
  const files = new Map([
    ['gateway/hang-ups.ts', 'export const preJudged = 1;\n'],
    ['gateway/fine.ts', '/**\n * As it must be (contract\n * section 4).\n */\nexport const contract = 1;\n'],
  ]);
  t.same(
    retiredWords(files, RETIRED_IN_SRC).map((fault) => fault.split(';')[0]),
    [
      'gateway/hang-ups.ts:1: "Judg"',
      'gateway/hang-ups.ts: its name has "hang-ups"',
      'gateway/fine.ts:2: "contract\n * section"',
    ],
  );
});
