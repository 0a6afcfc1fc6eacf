import { createConfig, lintFromString } from '@redocly/openapi-core';
import t from 'tap';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

/** The linter's rules that the API does not follow, with the reasons. */
const NOT_FOLLOWED = {
  // The users' own interface has them (specification section 2); the gateway answers both spellings.
  'no-path-trailing-slash': 'off',
  // /healthz and /readyz refuse nobody. A test provokes every refusal of all other routes.
  'operation-4xx-response': 'off',
} as const;

t.test('a linter finds no error and no warning in the document', async (t) => {
  const world = await startGatewayInProcess(t);
  const source = await (await fetch(`${world.url}/openapi.json`)).text();
  const config = await createConfig({ extends: ['recommended-strict'], rules: NOT_FOLLOWED });
  const problems = await lintFromString({ source, config, absoluteRef: 'openapi.json' });
  t.same(
    problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`),
    [],
  );
});
