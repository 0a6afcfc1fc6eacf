import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { type Test, test } from 'tap';
import { loadConfig } from '../src/config/load.ts';
import { CONFIG_FILE_SCHEMA } from '../src/config/schema.ts';
import { ERRORS } from '../src/domain/errors.ts';
import { type Action, MAY, ROLES, reachOf } from '../src/domain/roles.ts';
import { CALLER_CHECKS } from '../src/domain/rules.ts';
import { ENDPOINTS } from '../src/gateway/endpoints.ts';
import { describeMember, type Member, type Members } from '../src/metering/members.ts';
import {
  type ApiDocument,
  type Described,
  operationsOf,
  readDocument,
} from './helper/documented/api-document.ts';
import { ADMIN_TOKEN, startGatewayInProcess } from './helper/start/gateway-in-process.ts';

/** Who may call a route, and the title of those routes in docs/api.md. */
const CALLERS = [
  ['key', 'Any key:'],
  ['managing key', 'A managing key:'],
  ['person', 'A person with a session:'],
  ['operator', 'The operator, with the token or, below `/api/`, a session:'],
  ['nothing', 'Anyone:'],
] as const;

/** The parts of docs/api.md that derive from the OpenAPI description, each by the name of its marker in the page. */
function apiTables(document: ApiDocument): Readonly<Record<string, string>> {
  const operations = operationsOf(document);
  const modelCalls = operations.filter(
    ({ path, tags }) => tags?.includes('Models') && path.startsWith('/v1/'),
  );
  const others = operations.filter((operation) => !modelCalls.includes(operation));
  return {
    'model calls': modelCalls.map(({ name }) => `- ${code(name)}`).join('\n'),
    'other routes': CALLERS.map(([caller, title]) => {
      const lines = others.filter((operation) => callerOf(operation) === caller);
      return `${title}\n\n${lines.map(({ name, summary = '' }) => `- ${code(name)}: ${summary}`).join('\n')}`;
    }).join('\n\n'),
    'fields of a key': fieldList(document.components.schemas?.NewKey as unknown as ObjectSchema),
  };
}

function callerOf({ operationId, security = [], responses }: Described): (typeof CALLERS)[number][0] {
  if (security.length === 0) return 'nothing';
  if (security.some((scheme) => 'adminToken' in scheme)) return 'operator';
  if (security.every((scheme) => 'session' in scheme)) return 'person';
  // Only its previous value gets that refusal.
  if (operationId === 'rotateOwnKey') return 'key';
  const refusals = responses['403']?.content?.['application/json']?.examples ?? {};
  return 'management_not_allowed' in refusals ? 'managing key' : 'key';
}

interface Field {
  readonly description?: string;
  readonly default?: unknown;
  readonly anyOf?: readonly Field[];
  readonly items?: Field;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

interface ObjectSchema {
  readonly required: readonly string[];
  readonly properties: Readonly<Record<string, Field>>;
}

function fieldList({ required, properties }: ObjectSchema): string {
  const items = Object.entries(properties).map(([name, field]) => {
    const absent = required.includes(name) ? ['required'] : [];
    const fallback = field.default === undefined ? absent : [code(JSON.stringify(field.default))];
    const facts = [...fallback, ...boundsOf(field)].join('; ');
    return `- ${code(name)}${facts === '' ? '' : ` (${facts})`}: ${field.description ?? ''}`;
  });
  return items.join('\n');
}

function boundsOf(field: Field): string[] {
  const { minLength = 0, maxLength, maxItems, minimum, maximum } = field;
  return [
    ...(field.enum ? [field.enum.map(code).join(', ')] : []),
    ...(maxLength === undefined
      ? []
      : [`${minLength > 0 ? `${minLength}–` : 'at most '}${number(maxLength)} characters`]),
    ...(maxItems === undefined ? [] : [`at most ${number(maxItems)} items`]),
    ...(maximum === undefined ? [] : [`${number(minimum ?? 0)}–${number(maximum)}`]),
    ...(field.anyOf ?? []).flatMap(boundsOf),
    ...(field.items?.enum ? boundsOf(field.items) : []),
  ];
}

const code = (text: string) => `\`${text}\``;
const number = (value: number) => value.toLocaleString('en-US');

/** What users, operators and contributors read must agree with the code. */
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'bench/README.md',
  'src/ledger/PROOF.md',
  'test/torture/README.md',
  ...readdirSync(new URL('../docs', import.meta.url))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

function read(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
}

/** The lines of a page that are not in code blocks. */
function prose(page: string): string[] {
  let isCode = false;
  return read(page)
    .split('\n')
    .filter((line) => {
      const isFence = line.trimStart().startsWith('```');
      if (isFence) isCode = !isCode;
      return !isCode && !isFence;
    });
}

/** Cells of the tables below a heading, up to the next of the same level; without their header rows. */
function rowsUnder(page: string, heading: string): string[][] {
  const [, section = ''] = read(page).split(`\n## ${heading}\n`);
  const lines = (section.split('\n## ', 1)[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  return lines
    .filter((line, index) => !/^\|[-|]+$/.test(line) && !/^\|[-|]+$/.test(lines[index + 1] ?? ''))
    .map((line) => line.slice(1, -1).split('|').map(plain));
}

function plain(cell: string): string {
  return cell.trim().replace(/^`([^`]*)`$/, '$1');
}

/** Anchor that the pages' host gives a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function anchors(page: string): string[] {
  return prose(page).flatMap((line) => {
    const [, heading] = /^#+ (.+)$/.exec(line) ?? [];
    return heading === undefined ? [] : [anchorOf(heading)];
  });
}

test('links of all pages lead to files and headings that exist', async (t) => {
  for (const page of PAGES) {
    const links = [
      ...prose(page)
        .join('\n')
        .matchAll(/\]\(([^)\s]+)\)|\bsrc(?:set)?="([^"]+)"/g),
    ];
    for (const [, link, picture] of links) {
      const target = link ?? picture ?? '';
      if (/^[a-z]+:/.test(target)) continue;
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : posix.join(posix.dirname(page), path);
      t.ok(existsSync(new URL(`../${file}`, import.meta.url)), `${page}: ${target}`);
      if (anchor !== undefined && file.endsWith('.md'))
        t.ok(anchors(file).includes(anchor), `${page}: ${target}`);
    }
  }
});

test('the README has at most 200 lines, and no page of docs more than 400', async (t) => {
  const lengthOf = (page: string) => read(page).trimEnd().split('\n').length;
  t.ok(lengthOf('README.md') <= 200, `README.md: ${lengthOf('README.md')}`);
  for (const page of PAGES.filter((path) => path.startsWith('docs/')))
    t.ok(lengthOf(page) <= 400, `${page}: ${lengthOf(page)}`);
});

test('every page of docs is listed in the README', async (t) => {
  const readme = read('README.md');
  for (const page of PAGES.filter((path) => path.startsWith('docs/'))) t.ok(readme.includes(page), page);
});

test('files and folders that pages name by their path exist', async (t) => {
  // The changelog may name files that are gone; results of the load tests exist only after a run.
  for (const page of PAGES.filter((path) => path !== 'CHANGELOG.md')) {
    const named = prose(page)
      .join('\n')
      .matchAll(/`((?:src|test|bench|config|docs)\/[\w./-]+)`/g);
    for (const [, path = ''] of named)
      if (!path.startsWith('bench/results/'))
        t.ok(existsSync(new URL(`../${path}`, import.meta.url)), `${page}: ${path}`);
  }
});

test('every section that a comment names is in the specification', async (t) => {
  const numbers = new Set(
    [...read('docs/specification.md').matchAll(/^## (\d+)\. /gm)].map(([, number = '']) => number),
  );
  t.ok(numbers.size >= 9, 'the sections are found');
  const sources = ['src', 'test', 'bench'].flatMap((folder) =>
    readdirSync(new URL(`../${folder}`, import.meta.url), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(ts|tsx|mjs|lua)$/.test(path))
      .map((path) => `${folder}/${path}`),
  );
  for (const path of sources) {
    const text = read(path);
    t.notMatch(text, /\bcontract,? section|\bCONTRACT\.md/, `${path} names the specification`);
    for (const [whole, number = ''] of text.matchAll(/\bspecification section (\d+)/g))
      t.ok(numbers.has(number), `${path}: ${whole}`);
  }
});

test('npm scripts that pages name exist', async (t) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const page of PAGES) {
    const named = [...read(page).matchAll(/npm (?:run ([\w-]+)|(start|test)\b)/g)];
    for (const [whole, a, b] of named) t.ok(Object.hasOwn(scripts, a ?? b ?? ''), `${page}: ${whole}`);
  }
});

test('the API page lists exactly the error codes, with status and type', async (t) => {
  const rows = rowsUnder('docs/api.md', 'Errors');
  const paragraph = read('docs/api.md')
    .split('\n\n')
    .find((text) => text.startsWith('The status decides `type`'));
  const types = new Map(
    [...(paragraph ?? '').matchAll(/`(\w+)`\s\(([\d,\s]+)\)/g)].flatMap(([, type = '', statuses = '']) =>
      statuses.split(/,\s/).map((status) => [Number(status), type] as const),
    ),
  );
  const typeOf = (code: string, status: number) =>
    code === 'usage_limit_reached' ? code : (types.get(status) ?? 'invalid_request_error');
  for (const [code, [status, type]] of Object.entries(ERRORS)) t.equal(typeOf(code, status), type, code);
  const real = Object.entries(ERRORS).map(([code, [status]]) => `${code} ${status}`);
  t.same(rows.map(([code, status]) => `${code} ${status}`).sort(), real.sort());
  t.same(
    rows.filter(([, , advice]) => !advice),
    [],
    'and each says what to do',
  );
});

test('the configuration page lists exactly the environment variables', async (t) => {
  const folder = t.testdir({ 'gateway.yaml': 'upstreams: {}\nmodels: {}\n' });
  const asked: string[] = [];
  const env = new Proxy<NodeJS.ProcessEnv>(
    {},
    {
      get(_, name) {
        asked.push(String(name));
        return name === 'TOLLGATE_CONFIG' ? `${folder}/gateway.yaml` : undefined;
      },
    },
  );
  loadConfig({ env });
  // The program itself reads further variables.
  const program = ['gateway-process.ts', 'setup-link.ts'].map((file) => read(`src/program/${file}`)).join();
  for (const [, name = ''] of program.matchAll(/process\.env\.(\w+)/g)) asked.push(name);
  const told = [...read('docs/configuration.md').matchAll(/^- `([A-Z_]+)`/gm)].map(([, name]) => name);
  // Some have a lower-case spelling, too.
  t.same(told.sort(), [...new Set(asked.map((name) => name.toUpperCase()))].sort());
});

interface ConfigSchema {
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly ConfigSchema[];
  readonly items?: ConfigSchema;
  readonly properties?: Readonly<Record<string, ConfigSchema>>;
  readonly additionalProperties?: ConfigSchema | boolean;
  readonly required?: readonly string[];
}

/** An item for each setting of the config file: its path, default, and meaning. */
function settingsOf({ properties = {}, required = [] }: ConfigSchema, path: string): string[] {
  return Object.entries(properties).flatMap(([key, setting]) => {
    const at = `${path}.${key}`;
    const { description = '', default: value } = setting;
    const fallback =
      value === undefined ? '' : ` (${code(typeof value === 'string' ? value : JSON.stringify(value))})`;
    const needed = required.includes(key) ? ' (required)' : fallback;
    const words = wordsOf(setting).map(code).join(', ');
    const meaning = words === '' ? description : `${words}. ${description}`;
    return [`- ${code(at)}${needed}: ${meaning}`, ...settingsOf(setting, at)];
  });
}

/** A list for each section of the config file, below its name. */
function settingLists({ properties = {} }: ConfigSchema): string[] {
  return Object.entries(properties).map(([name, section]) => {
    const { additionalProperties: entry, description = '' } = section;
    if (typeof entry !== 'object') return `### ${code(name)}\n\n${settingsOf(section, name).join('\n')}`;
    const path = `${name}.<${name === 'models' ? 'slug' : 'name'}>`;
    return `### ${code(name)}\n\n${description}.\n\n${settingsOf(entry, path).join('\n')}`;
  });
}

function wordsOf({ enum: words = [], anyOf = [] }: ConfigSchema): readonly string[] {
  return [...words, ...anyOf.flatMap(wordsOf)];
}

/** Holds the generated tables of a page, each by the name of its marker, against the code; WRITE_DOCS=1 writes them. */
function holdTables(t: Test, path: string, tables: Readonly<Record<string, string>>): void {
  const page = Object.entries(tables).reduce(
    (text, [name, table]) =>
      text.replace(
        new RegExp(`(<!-- generated: ${name} -->\\n)[^]*?(\\n<!-- end -->)`),
        (_, begin, end) => `${begin}\n${table}\n${end}`,
      ),
    read(path),
  );
  for (const [name, table] of Object.entries(tables))
    t.ok(page.includes(table), `${name}: its place is found`);
  if (process.env.WRITE_DOCS) writeFileSync(new URL(`../${path}`, import.meta.url), page);
  t.equal(read(path), page, 'npm run docs writes them');
}

test('the tables of the API page are those of the OpenAPI description', async (t) => {
  const { url } = await startGatewayInProcess(t);
  holdTables(t, 'docs/api.md', apiTables(await readDocument(url)));
});

test('the settings on the configuration page are those of the schema of the config file', async (t) => {
  const lists = settingLists(CONFIG_FILE_SCHEMA as ConfigSchema);
  t.ok(lists.length > 8, 'the sections are found');
  holdTables(t, 'docs/configuration.md', { 'settings of the config file': lists.join('\n\n') });
});

test('the settings on the page about people are those of the schema of the config file', async (t) => {
  const { oidc } = (CONFIG_FILE_SCHEMA as ConfigSchema).properties?.people?.properties ?? {};
  t.ok(oidc?.items, 'the settings are found');
  const lines = settingsOf(oidc?.items ?? {}, 'people.oidc[]');
  holdTables(t, 'docs/people.md', { 'settings of an identity provider': lines.join('\n') });
});

test('the roles on the page about people are those of the code', async (t) => {
  const rows = Object.keys(MAY).map((action) => {
    const cells = ROLES.map((role) => {
      const reach = reachOf(role, action as Action);
      return reach === 'all' ? 'yes' : (reach ?? '–');
    });
    return `| ${action} | ${cells.join(' | ')} |`;
  });
  const head = [`| may | ${ROLES.join(' | ')} |`, `|---|${ROLES.map(() => '---|').join('')}`];
  holdTables(t, 'docs/people.md', { roles: [...head, ...rows].join('\n') });
});

test('the checks of key and caller in the specification are those of the code', async (t) => {
  const checks = CALLER_CHECKS.map(({ name, code }) => `\`${name}\` (${ERRORS[code][0]} \`${code}\`)`);
  holdTables(t, 'docs/specification.md', { 'checks of key and caller': `${checks.join(', ')}.` });
});

const TREATMENTS = ['held', 'priced', 'refused', 'free'];

/** A row for each treatment of the fields of a request, with the nested fields that have a text. */
function fieldTable(members: Members): string {
  const rows = Map.groupBy([...members, ...nestedFields(members)], ([, member]) => describeMember(member));
  const sorted = TREATMENTS.flatMap((treatment) =>
    [...rows].filter(([, fields]) => fields.some(([, member]) => member.treatment === treatment)),
  );
  const lines = sorted.map(([text, fields]) => {
    const names = new Set(fields.map(([name]) => code(name)));
    return `| ${[...names].join(', ')} | ${text} |`;
  });
  return ['| Field | Treatment |', '|---|---|', ...lines].join('\n');
}

function nestedFields(members: Members): [name: string, member: Member][] {
  const tables = new Map([[members, '']]);
  // The map grows while it is walked.
  for (const [table] of tables)
    for (const [name, { within }] of table) if (within && !tables.has(within)) tables.set(within, name);
  tables.delete(members);
  return [...tables].flatMap(([table, name]) =>
    [...table]
      .filter(([, { text }]) => text !== undefined)
      .map(([inner, member]): [string, Member] => [`${name}.${inner}`, member]),
  );
}

test('the fields on the page of charges are those of the tables that check requests', async (t) => {
  const paths = Map.groupBy(
    ENDPOINTS.flatMap(({ path, members }) => (members ? [{ path, members }] : [])),
    ({ members }) => members,
  );
  t.ok(paths.size > 5, 'the tables are found');
  const tables = [...paths].map(([members, [first]]) => [`fields of ${first?.path}`, fieldTable(members)]);
  holdTables(t, 'docs/charges.md', Object.fromEntries(tables));
});

test('the list of metrics has the help of each', async (t) => {
  const world = await startGatewayInProcess(t);
  const page = await (await world.api('GET', '/metrics', ADMIN_TOKEN)).text();
  const metrics = [...page.matchAll(/^# HELP (tollgate_\w+) (.+)$/gm)];
  t.ok(metrics.length > 10, 'the metrics are found');
  const items = metrics.map(([, name = '', help = '']) => `- ${code(name)}: ${help}`);
  holdTables(t, 'docs/operating.md', { metrics: items.join('\n') });
});

/** The figures above the bars of the chart: for each target in turn, one for each group of bars. */
function chartFigures(): number[] {
  const labels = read('bench/chart.svg').matchAll(/<text[^>]*font-size:10px[^>]*>([\d.]+)<\/text>/g);
  return [...labels].map(([, figure]) => Number(figure));
}

test('the figures of the README agree with the chart', async (t) => {
  const told = [...read('README.md').matchAll(/([\d.]+) to ([\d.]+) times/g)];
  t.equal(told.length, 2, 'calls and streams');
  const [, , , , json = 0, sse = 0] = chartFigures();
  for (const [figure, [whole, low, high]] of [
    [json, told[0] ?? []],
    [sse, told[1] ?? []],
  ] as const)
    t.ok(figure >= Number(low) && figure <= Number(high), `${whole}: the chart shows ${figure}`);
});
