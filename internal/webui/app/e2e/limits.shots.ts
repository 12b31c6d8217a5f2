import type { components } from '../src/api/schema';
import { patiently, shoot, withCatalog } from './shots';
import { CHAT, test } from './test';

type Schemas = components['schemas'];

// As pages.shots.ts, for what holds an application to a budget and a capability up.
patiently();

test('limits and keys', async ({ page, developer, administrator }) => {
  const { id } = await developer.createApplication('Search assistant of the customer service department, north', [CHAT]);
  await developer.api('PATCH', `/api/applications/${id}/limits`, { requestsPerMinute: 600, tokensPerDay: 5_000_000 });
  await administrator.api('PUT', '/api/admin/limits', { scope: 'application', application: id, concurrency: 40 });
  await administrator.api('PUT', '/api/admin/limits', { scope: 'owner', owner: developer.email, callsPerDay: 1_000_000 });
  await developer.api('POST', `/api/applications/${id}/keys`, {
    name: 'nightly batch',
    expiresAt: '2027-01-01T00:00:00+08:00',
    allowedCidrs: ['203.0.113.0/24', '2001:db8::/32'],
  });
  const used: Partial<Record<Schemas['LimitName'], number>> = {
    requestsPerMinute: 572,
    concurrency: 12,
    callsPerDay: 1_000_000,
    tokensPerDay: 1_204_311,
  };
  await page.route('**/limits/usage', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: Schemas['LimitsUsage'] };
    for (const item of body.data.items) item.used = used[item.name] ?? null;
    await route.fulfill({ response: answer, json: body });
  });
  await shoot(page, 'application-limits', `/applications/${id}?tab=limits`);
  await shoot(page, 'application-keys', `/applications/${id}?tab=keys`);
  await shoot(page, 'admin-limits', '/admin/limits');
});

test('upstreams', async ({ page, administrator }) => {
  await withCatalog(administrator);
  for (const name of ['north', 'south']) {
    await administrator.api('POST', '/api/admin/upstreams', {
      id: `provider-${name}`,
      name: `Provider ${name}`,
      baseUrl: `https://${name}.models.example.com/v1`,
      key: 'sk-of-the-pictures',
      skipCheck: true,
    });
  }
  const { items } = await administrator.api<Schemas['GroupList']>('GET', '/api/admin/groups');
  await administrator.api('POST', '/api/admin/capabilities', {
    id: 'chat-twice',
    name: 'Chat by two providers',
    groupId: items[0]!.id,
    upstreamModel: 'm',
    defaultPath: '/v1/chat/completions',
    upstreams: [{ upstreamId: 'provider-north' }, { upstreamId: 'provider-south' }],
  });
  await shoot(page, 'admin-upstreams-two', '/admin/upstreams');
  await shoot(page, 'admin-capability-two', '/admin/capabilities/chat-twice');
});
