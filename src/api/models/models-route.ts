import type { FastifyPluginAsync } from 'fastify';
import { type Catalog, modelOf } from '../../domain/catalog.ts';
import { GatewayError } from '../../domain/errors.ts';
import { modelRefusalOf } from '../../domain/rules.ts';
import type { Gatekeeper } from '../../gateway/gatekeeper.ts';
import { limitParam, queryOf, textParam } from '../http/query.ts';
import type { ModelListView } from './model-view.ts';
import { modelListView, modelView } from './show-models.ts';

/** Routes `GET /v1/models` and `/v1/models/{id}`: the models that the calling key may use, for clients of OpenAI and of Anthropic. */
export function modelsRoute(parts: { gatekeeper: Gatekeeper; catalog: () => Catalog }): FastifyPluginAsync {
  return async (app) => {
    app.get('/v1/models', async (request): Promise<ModelListView> => {
      const compiled = await parts.gatekeeper.authorise(request);
      const usable = [...parts.catalog().values()].filter((model) => !modelRefusalOf(compiled, model));
      const query = queryOf(request);
      return modelListView(usable, {
        limit: limitParam(query),
        afterId: textParam(query, 'after_id'),
        beforeId: textParam(query, 'before_id'),
      });
    });
    app.get<{ Params: { '*': string } }>('/v1/models/*', async (request) => {
      const compiled = await parts.gatekeeper.authorise(request);
      const model = modelOf(parts.catalog(), request.params['*']);
      if (!model || modelRefusalOf(compiled, model)) {
        throw new GatewayError('model_not_found', 'This key can call no model with this name.', 'model');
      }
      return modelView(model);
    });
  };
}
