import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Faults } from '../domain/shape.ts';

/** Variables whose value can also be in a file, which `<NAME>_FILE` names: they hold secrets. */
export const SECRET_VARIABLES: readonly string[] = [
  'ADMIN_TOKEN',
  'METRICS_TOKEN',
  'DATABASE_URL',
  'REDIS_URL',
];

/**
 * Content of a file with a secret, without the white space around it. Adds a fault if there is none, which names the file,
 * unless the name could be the secret itself, set by mistake.
 */
export function readSecret(file: string, path: string, faults: Faults): string | undefined {
  const which = isAbsolute(file) ? `names the file ${file}, which` : 'names a file that';
  let content: string;
  try {
    content = readFileSync(file, 'utf8').trim();
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : 'cannot be read';
    return faults.add(path, `${which} ${reason}`);
  }
  return content === '' ? faults.add(path, `${which} is empty`) : content;
}

/** Value of a variable of SECRET_VARIABLES, and the variable that gave it; undefined if absent or empty. */
export function secretVariable(
  env: NodeJS.ProcessEnv,
  name: string,
  faults: Faults,
): { readonly value: string | undefined; readonly name: string } {
  const ofFile = `${name}_FILE`;
  const { [name]: value, [ofFile]: file } = env;
  if (!file) return { value, name };
  if (value) faults.add(ofFile, `must not be combined with ${name}`);
  return { value: value ? undefined : readSecret(file, ofFile, faults), name: ofFile };
}
