import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { type ListModel, type ListProvider, matches, modelOf } from './list-data.ts';
import { NotAList, readList } from './read-list.ts';

/** Provider prices, read once, with a version name. */
export interface PriceList {
  /** Human-readable name and version: `@pydantic/genai-prices 0.1.8`, or a file and its day. */
  readonly version: string;
  /** Provider ids. */
  readonly ids: readonly string[];
  provider(id: string): ListProvider | undefined;
  /** Finds the provider for an alternative name, such as `gemini` for google. */
  providerLike(name: string): ListProvider | undefined;
  /** Finds a provider's model by any of its names, including aliases and dated ones. */
  model(provider: ListProvider, name: string): ListModel | undefined;
}

const PACKAGE = '@pydantic/genai-prices';
/** The project's list has 1.5 MB. */
const MAX_BYTES = 64 * 1_048_576;

/** The part of the package in use: the data that `findProvider` returns, without its arithmetic. */
interface Package {
  findProvider(of: { readonly providerId: string }): (ListProvider & { readonly id: string }) | undefined;
}

let packaged: PriceList | undefined;

/** List of the pinned package, loaded on the first call and kept: loading takes 35 to 50 ms, and 3 MB of heap. */
export function packagedList(): PriceList {
  if (packaged) return packaged;
  const require = createRequire(import.meta.url);
  const main = require.resolve(PACKAGE);
  const { findProvider } = require(main) as Package;
  const { version } = JSON.parse(readFileSync(join(dirname(main), '../package.json'), 'utf8')) as {
    version: string;
  };
  const provider = (id: string) => {
    const found = findProvider({ providerId: id });
    return found?.id === id ? found : undefined;
  };
  packaged = {
    version: `${PACKAGE} ${version}`,
    ids: PACKAGED_IDS,
    provider,
    providerLike: (name) => findProvider({ providerId: name }),
    model: (of, name) => modelOf(of, name, provider),
  };
  return packaged;
}

/** A newer copy of the list. Throws NotAList, with the reason, if the file is unusable. */
export function listOfFile(path: string): PriceList {
  const byId = new Map(readList(parsed(path)).map((provider) => [provider.id, provider]));
  const provider = (id: string) => byId.get(id);
  return {
    version: `${basename(path)} of ${statSync(path).mtime.toISOString().slice(0, 10)}`,
    ids: [...byId.keys()],
    provider,
    providerLike: (name) =>
      [...byId.values()].find(
        ({ provider_match }) => provider_match && matches(provider_match, name.toLowerCase()),
      ),
    model: (of, name) => modelOf(of, name, provider),
  };
}

function parsed(path: string): unknown {
  let text: string;
  try {
    const { size } = statSync(path);
    if (size > MAX_BYTES) throw new NotAList(`it has ${size} bytes, more than ${MAX_BYTES}`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof NotAList) throw error;
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new NotAList(isAbsent ? 'the file does not exist' : 'the file cannot be read');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new NotAList('it is not JSON');
  }
}

/** Listed here because the package can't enumerate them; a test compares both. */
export const PACKAGED_IDS: readonly string[] = (
  'anthropic arcee avian aws azure baseten cerebras cloudflare cohere cursor deepseek doubleword fireworks ' +
  'github-copilot google groq huggingface_cerebras huggingface_fireworks-ai huggingface_groq huggingface_hyperbolic ' +
  'huggingface_nebius huggingface_novita huggingface_nscale huggingface_ovhcloud huggingface_publicai ' +
  'huggingface_sambanova huggingface_together minimax mistral modal moonshotai novita openai openrouter ovhcloud ' +
  'perplexity quicksilverpro together typesafe voyageai x-ai zai zhipuai'
).split(' ');
