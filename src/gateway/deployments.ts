import type { FastifyRequest } from 'fastify';
import { ENDPOINTS, type Endpoint } from './endpoints.ts';

/** Azure's clients call `/openai/deployments/<model>/<route>`, one of its other spellings. The model's name may have slashes. */
export const DEPLOYMENTS = '/v1/openai/deployments/*';

/** Routes of Azure's clients, longest first, because `/completions` also ends `/chat/completions`. */
const ROUTES = ENDPOINTS.filter(({ hasDeployments }) => hasDeployments)
  .map((endpoint) => ({ endpoint, end: endpoint.path.slice('/v1'.length) }))
  .sort((a, b) => b.end.length - a.end.length);

interface Deployment {
  readonly endpoint: Endpoint;
  /** Name of the model. */
  readonly model: string;
}

/** Endpoint and model of a request to DEPLOYMENTS; undefined if the endpoint is none of Azure's. */
export function deploymentOf({ params }: FastifyRequest): Deployment | undefined {
  const { '*': decoded } = params as { readonly '*': string };
  const path = decoded.replace(/\/$/, '');
  const route = ROUTES.find(({ end }) => path.endsWith(end));
  return route && { endpoint: route.endpoint, model: path.slice(0, -route.end.length) };
}
