import type { components } from '../src/api/schema';
import { patiently, shoot } from './shots';
import { CHAT, test } from './test';

type Schemas = components['schemas'];

// As pages.shots.ts, for what owners and administrators want to be told of.
patiently();

test('alerts', async ({ page, developer, administrator }) => {
  void administrator;
  const app = await developer.createApplication('Search assistant', [CHAT]);
  const make = (name: string, more: Partial<Schemas['AlertDraft']>) =>
    developer.api<Schemas['Alert']>('POST', '/api/alerts', {
      name,
      kind: 'failureRate',
      targetType: 'application',
      targetId: app.id,
      threshold: 20,
      channels: [{ kind: 'mail' }, { kind: 'slack', url: 'http://hooks.example.com/x' }],
      ...more,
    });
  const first = await make('Search fails', {});
  await make('Search is silent', { kind: 'noCalls', threshold: 30 });
  await make('Budget of the month', { kind: 'cost', threshold: 1200, period: 'month', currency: 'CNY' });
  await page.route('**/api/alerts', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.json()) as { data: Schemas['AlertItems'] };
    const firing = body.data.items.find(({ id }) => id === first.id);
    if (firing)
      firing.state = {
        ...firing.state,
        value: 'firing',
        known: true,
        unknownReason: null,
        measured: 61.25,
        since: firing.createdAt,
        figures: { ...firing.state.figures, calls: 480, failures: 294 },
      };
    await route.fulfill({ response: answer, json: body });
  });
  await developer.api('POST', `/api/alerts/${first.id}/test`);
  await shoot(page, 'alerts', `/alerts?alert=${first.id}`);
  await shoot(page, 'alert-form', '/alerts', { prepare: (words) => page.getByRole('button', { name: words.alerts.add }).click() });
  await shoot(page, 'admin-alerts', '/admin/alerts', { prepare: (words) => page.getByRole('button', { name: words.alerts.add }).click() });
});
