import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

const LIBRARY = '@mantine/core';

/**
 * Imports each component from its own file. The bundler puts all that is imported through the library's index into one
 * script, because any page that imports one of it might need it: the sign-in page would load 50 KB for the other pages.
 */
export const DIRECT_IMPORTS: Plugin = {
  name: 'direct imports',
  setup: async (build) => {
    const index = new URL(import.meta.resolve(LIBRARY));
    const files = new Map<string, string>();
    for (const [, names = '', path = ''] of (await readFile(index, 'utf8')).matchAll(pattern(/"([^"]+)"/))) {
      for (const name of namesIn(names)) files.set(name, fileURLToPath(new URL(path, index)));
    }
    build.onLoad({ filter: /dashboard.page.*\.tsx?$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const contents = text.replace(pattern(/'@mantine\/core'/), (_, names: string) =>
        namesIn(names)
          .filter((name) => !name.startsWith('type '))
          .map((name) => `import { ${name} } from ${JSON.stringify(fileOf(name, files))};`)
          .join(''),
      );
      return { contents, loader: path.endsWith('x') ? 'tsx' : 'ts' };
    });
  },
};

function fileOf(name: string, files: ReadonlyMap<string, string>): string {
  const [imported = ''] = name.split(' as ');
  return files.get(imported) ?? LIBRARY;
}

/** Imports of names from a module. */
function pattern(from: RegExp): RegExp {
  return new RegExp(`import \\{([^}]*)\\} from ${from.source};`, 'g');
}

function namesIn(list: string): readonly string[] {
  return list
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
}
