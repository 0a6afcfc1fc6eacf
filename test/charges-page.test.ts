import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { CHAT } from '../src/metering/chat.ts';
import type { Treatment } from '../src/metering/members.ts';
import { MESSAGES } from '../src/metering/messages.ts';
import { RESPONSES } from '../src/metering/responses.ts';

const page = readFileSync(new URL('../docs/charges.md', import.meta.url), 'utf8');
/** How the page begins a statement about what happens to a field. */
const WORDS: Readonly<Record<Treatment, RegExp>> = {
  priced: /^priced/,
  held: /^held/,
  // Ids of objects that an account may not own.
  refused: /^(refused|404)/,
  free: /^nothing/,
};

/** Rows of the table under a heading: the names in the first column, and how the second column begins. */
function rowsUnder(heading: string): { readonly names: readonly string[]; readonly says: string }[] {
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ', 1)[0] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| Field'))
    .map((line) => {
      const [, fields = '', says = ''] = line.split('|');
      const names = [...fields.matchAll(/`([a-z_]+)(?![^`]*` in a tool)/g)].map(([, name = '']) => name);
      return { names, says: says.trim() };
    });
}

for (const [heading, table] of [
  ['Chat completions', CHAT],
  ['Responses', RESPONSES],
  ['Messages', MESSAGES],
] as const) {
  test(`charges.md, ${heading}: each field is treated as the page says`, async (t) => {
    const rows = rowsUnder(heading);
    t.ok(rows.length > 10);
    const wrong = [...table].filter(([name, { treatment }]) => {
      const about = rows.filter(({ names }) => names.includes(name)).map(({ says }) => says);
      const isRight = about.some((says) => WORDS[treatment].test(says));
      // The page need not name what the provider does not charge for.
      return treatment === 'free' ? about.length > 0 && !isRight : !isRight;
    });
    t.same(
      wrong.map(([name, { treatment }]) => `${name}: ${treatment}`),
      [],
    );
  });
}
