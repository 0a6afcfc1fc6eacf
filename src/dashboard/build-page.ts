import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { DIRECT_IMPORTS } from './direct-imports.ts';

const SOURCE = fileURLToPath(new URL('./page', import.meta.url));
const TARGET = fileURLToPath(new URL('../../dist/dashboard/page', import.meta.url));

/**
 * Bundles the page at /dashboard/ into `target`: index.html, and assets with the hash of their content in their names,
 * each also compressed. Files are renamed into place, so that a gateway that serves meanwhile never sends half of one.
 */
export async function buildPage(target = TARGET): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: ['main.tsx', 'style/first.css', 'icon.svg'].map((file) => join(SOURCE, file)),
    tsconfig: join(SOURCE, 'tsconfig.json'),
    bundle: true,
    plugins: [DIRECT_IMPORTS],
    minify: true,
    format: 'esm',
    splitting: true,
    target: ['chrome111', 'firefox115', 'safari16.4'],
    loader: { '.svg': 'copy' },
    define: { TOLLGATE_VERSION: JSON.stringify(version()), 'process.env.NODE_ENV': '"production"' },
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    outdir: join(target, 'assets'),
    write: false,
    legalComments: 'eof',
  });
  const files = outputFiles.map(({ path, contents }) => ({ name: basename(path), contents }));
  const named = (beginning: string, ending: string) =>
    files.find(({ name }) => name.startsWith(beginning) && name.endsWith(ending))?.name ?? '';
  // The sheet of main.tsx has those of all scripts that it loads later. Their own are of no use.
  const sheets = [named('first-', '.css'), named('main-', '.css')] as const;
  const assets = files.filter(({ name }) => !name.endsWith('.css') || sheets.includes(name));
  const page = html(named('main-', '.js'), sheets, named('icon-', '.svg'));
  mkdirSync(join(target, 'assets'), { recursive: true });
  for (const { name, contents } of assets) put(join(target, 'assets', name), contents);
  put(join(target, 'index.html'), Buffer.from(page));
  const current = new Set(assets.flatMap(({ name }) => [name, `${name}.br`, `${name}.gz`]));
  for (const name of readdirSync(join(target, 'assets'))) {
    // Unfinished files are left alone, because another build may be writing them.
    if (!current.has(name) && !name.includes('.part-')) rmSync(join(target, 'assets', name), { force: true });
  }
}

/** Version in package.json, which the page shows without asking the gateway. */
function version(): string {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/**
 * The page. The gateway puts `../` before `assets/` for longer paths (dashboard-routes.ts). Browsers load a sheet that is
 * disabled only when main.tsx enables it.
 */
function html(script: string, [first, pages]: readonly [string, string], icon: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Tollgate</title>
<link rel="icon" href="assets/${icon}" type="image/svg+xml">
<link rel="stylesheet" href="assets/${first}">
<link rel="stylesheet" href="assets/${pages}" id="pages-style" disabled>
<script type="module" src="assets/${script}"></script>
</head>
<body>
<noscript>The dashboard requires JavaScript. You can do the same with the API.</noscript>
<div id="page"></div>
</body>
</html>
`;
}

function put(path: string, contents: Uint8Array): void {
  for (const [ending, bytes] of [
    ['', contents],
    ['.br', brotliCompressSync(contents)],
    ['.gz', gzipSync(contents, { level: 9 })],
  ] as const) {
    const part = `${path}${ending}.part-${process.pid}`;
    writeFileSync(part, bytes);
    renameSync(part, `${path}${ending}`);
  }
}

if (import.meta.main) await buildPage();
