import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDER = join(ROOT, 'node_modules', '.cache', 'programs');

/** Packages that load files by paths that esbuild can't see. */
const LEFT_OUT = [
  'geoip-lite',
  'gpt-tokenizer',
  'pino',
  'pino-pretty',
  'i18n-iso-countries',
  '@pydantic/genai-prices',
];

/** Set by test/run.ts. */
const { TEST_PROGRAMS } = process.env;

/** Path of a program of src, `main.ts` or `cli.ts`: the bundle, if this test run has one. */
export function programPath(name: string): string {
  return TEST_PROGRAMS ? join(TEST_PROGRAMS, `${name}.mjs`) : join(ROOT, 'src', name);
}

/**
 * Bundles the programs of src with their imports. Resolves with the folder of the bundles. A test run starts hundreds
 * of programs; from 1,100 files, each start takes a quarter more processor time than from a bundle.
 */
export async function bundlePrograms(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['main.ts', 'cli.ts'].map((name) => ({ in: join('src', name), out: name })),
    outdir: FOLDER,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    keepNames: true,
    external: LEFT_OUT,
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    plugins: [withOwnPaths],
    write: false,
  });
  mkdirSync(FOLDER, { recursive: true });
  for (const { path, contents } of outputFiles) {
    // Renamed into place, because another run may be starting programs.
    const part = `${path}.part-${process.pid}`;
    writeFileSync(part, contents);
    renameSync(part, path);
  }
  const current = new Set(outputFiles.map(({ path }) => basename(path)));
  for (const name of readdirSync(FOLDER)) {
    if (!current.has(name) && !name.includes('.part-')) rmSync(join(FOLDER, name), { force: true });
  }
  return FOLDER;
}

/** Keeps the original path of each file, next to which it finds scripts, workers and pages. */
const withOwnPaths: Plugin = {
  name: 'own-paths',
  setup(bundle) {
    bundle.onLoad({ filter: /\.(?:ts|[cm]?js)$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const contents = text
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replace(/\b__dirname\b/g, () => JSON.stringify(dirname(path)))
        .replace(/\b__filename\b/g, () => JSON.stringify(path));
      return contents === text ? null : { contents, loader: path.endsWith('.ts') ? 'ts' : 'js' };
    });
  },
};
