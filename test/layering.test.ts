import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { circlesOf, layeringFaults } from './helper/layering.ts';

const SRC = new URL('../src', import.meta.url).pathname;

const faultsOf = (files: Record<string, string>) => layeringFaults(new Map(Object.entries(files)));

/** Every file of src by its path below it. */
function sources(): Map<string, string> {
  const paths = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.(ts|tsx|mjs)$/.test(path),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(SRC, path), 'utf8')]));
}

test('imports in src go one way', async (t) => {
  const files = sources();
  t.ok(files.has('domain/credits.ts'), 'the files are found');
  t.ok(files.has('dashboard/page/main.tsx'), 'those of the page too');
  t.same(layeringFaults(files), []);
});

test('imports in src go in no circle, types included', async (t) => {
  t.same(circlesOf(sources()), []);
});

test('a circle of imports is found, also one of types and over several files', async (t) => {
  const circle = {
    'gateway/a.ts': "import type { B } from './b.ts';",
    'gateway/b.ts': "import { c } from '../metering/c.ts';",
    'metering/c.ts': "export { a } from '../gateway/a.ts';",
    'gateway/d.ts': "import { a } from './a.ts';",
  };
  t.same(circlesOf(new Map(Object.entries(circle))), [['gateway/a.ts', 'gateway/b.ts', 'metering/c.ts']]);
});

test('the root of src holds the entries only', async (t) => {
  const atRoot = [...sources().keys()].filter((path) => !path.includes('/'));
  t.same(atRoot.sort(), ['bootstrap.mjs', 'cli.ts', 'main.ts']);
});

test('OpenTelemetry is loaded by nobody who does not trace', async (t) => {
  const files = [...sources()];
  const users = files.flatMap(([path, source]) => (source.includes("from '@opentelemetry/") ? [path] : []));
  t.same(users.sort(), ['observability/call-trace.ts', 'observability/tracing.ts']);
  const importers = files.flatMap(([path, source]) =>
    /^import (?!type).*from '\.\/(tracing|call-trace)\.ts'/m.test(source) ? [path] : [],
  );
  t.same(importers, ['observability/tracing.ts'], 'the program imports it when an endpoint is set');
});

test('an import of a higher tier is found, however it is written', async (t) => {
  for (const line of [
    "import { admit } from '../ledger/admit.ts';",
    "import type { Admit } from '../ledger/admit.ts';",
    "import '../ledger/admit.ts';",
    "export { admit } from '../ledger/admit.ts';",
    "const { admit } = await import('../ledger/admit.ts');",
    "import {\n  admit,\n} from '../ledger/admit.ts';",
  ]) {
    t.match(faultsOf({ 'domain/a.ts': line }), [/^domain\/a\.ts: must not import ledger\/admit\.ts/], line);
  }
});

test('an import of a lower tier, or within a folder, is none', async (t) => {
  t.same(
    faultsOf({
      'gateway/a.ts': "import { hold } from '../ledger/hold.ts';\nimport { b } from './meter/b.ts';",
      'main.ts': "import { serve } from './program/serve.ts';",
    }),
    [],
  );
});

test('neighbours do not import each other', async (t) => {
  t.equal(faultsOf({ 'alerts/a.ts': "import { hold } from '../ledger/hold.ts';" }).length, 1);
  t.equal(
    faultsOf({ 'observability/a.ts': "import { startDemoProvider } from '../demo/demo-provider.ts';" })
      .length,
    1,
  );
});

test('a program file is imported by program files only', async (t) => {
  t.equal(faultsOf({ 'gateway/a.ts': "import { serve } from '../program/serve.ts';" }).length, 1);
});

test('a folder without a place is found', async (t) => {
  t.match(faultsOf({ 'utils/a.ts': '' }), [/utils has no place/]);
});

test('dependency injection outside the container is found', async (t) => {
  t.match(faultsOf({ 'program/app.ts': "import { container } from 'tsyringe';" }), [
    /only program\/container\.ts/,
  ]);
  t.same(faultsOf({ 'program/container.ts': "import { container } from 'tsyringe';" }), []);
});

test('a dashboard that knows more than the domain is found', async (t) => {
  const page = 'dashboard/page/keys/keys.tsx';
  t.match(faultsOf({ [page]: "import { ENDPOINTS } from '../../../gateway/endpoints.ts';" }), [
    /domain only/,
  ]);
  t.same(faultsOf({ [page]: "import { normaliseRange } from '../../../domain/addresses.ts';" }), []);
});

test('I/O in the domain is found', async (t) => {
  t.match(faultsOf({ 'domain/a.ts': "import { readFileSync } from 'node:fs';" }), [/no I\/O/]);
  t.same(faultsOf({ 'domain/a.ts': "import { createHash } from 'node:crypto';" }), []);
});

test('a dependency of the bootstrap is found', async (t) => {
  t.match(faultsOf({ 'bootstrap/a.mjs': "import yaml from 'yaml';" }), [/nothing is installed yet/]);
  t.match(faultsOf({ 'bootstrap.mjs': "import { x } from './config/config.ts';" }), [/stands alone/]);
});

test('an import from outside src is found', async (t) => {
  t.match(faultsOf({ 'gateway/a.ts': "import { world } from '../../test/helper/gateway-in-process.ts';" }), [
    /outside src/,
  ]);
});
