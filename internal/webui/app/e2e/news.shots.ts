import { shoot } from './shots';
import { test } from './test';

// Not tests: `make screenshots` writes the pages of news to screenshots/.
test('news', async ({ page, developer, administrator, expected }) => {
  expected.push(/./);
  void developer;
  void administrator;
  await shoot(page, 'news', '/whats-new');
  await shoot(page, 'admin-news', '/admin/whats-new');
  await shoot(page, 'news-unseen', '/alerts', {
    height: 900,
    prepare: () => page.locator('.place[aria-haspopup=menu]').locator('visible=true').last().click(),
  });
});
