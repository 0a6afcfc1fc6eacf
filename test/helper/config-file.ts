import type { Test } from 'tap';
import { ConfigError, loadConfig } from '../../src/config/load.ts';

/** A config file with one model, `gpt`. */
export const SMALL = `
upstreams:
  openai: { url: "https://api.openai.com/", apiKey: "\${OPENAI_API_KEY}", format: openai }
models:
  gpt: { upstream: openai, category: text, maxOutputTokens: 100, price: { input: 0.15, output: 0.6 } }
`;
/** The environment variable that SMALL needs. */
export const KEY = { OPENAI_API_KEY: 'sk-upstream' };

export function load(t: Test, yaml: string, env: NodeJS.ProcessEnv = KEY) {
  const folder = t.testdir({ 'gateway.yaml': yaml });
  return loadConfig({ env, file: `${folder}/gateway.yaml` });
}

/** Faults that the refusal of a config file names; empty where the file is accepted. */
export function faults(t: Test, yaml: string, env: NodeJS.ProcessEnv = KEY): readonly string[] {
  try {
    load(t, yaml, env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

export const withModel = (model: string) => SMALL.replace(/ {2}gpt: .*/, `  gpt: ${model}`);
