import t from 'tap';
import { apiOf } from '../helper/api.ts';
import { startWorld } from '../helper/world.ts';

const world = await startWorld(t);

t.test('an account lists its keys by id, inactive ones included, and no other', async (t) => {
  const owner = await world.account();
  const stranger = await world.account();
  const api = apiOf(world, owner.key);
  const created = await api.post('/api/keys/', { name: 'second' });
  await api.delete(`/api/keys/${created.body.id}/`);
  const { status, body } = await api.get('/api/keys/');
  t.equal(status, 200);
  t.same(
    body.keys?.map((key) => [key.id, key.is_active]),
    [
      [owner.keyId, true],
      [created.body.id, false],
    ],
  );
  const others = await apiOf(world, stranger.key).get('/api/keys/');
  t.same(
    others.body.keys?.map((key) => key.id),
    [stranger.keyId],
  );
});
