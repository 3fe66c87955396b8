import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitUntil } from '@svc/testing';
import { expect, test } from 'vitest';
import type { Stage } from '../stage.ts';

export function bucketFlows(stage: Stage): void {
  test('a bucket is made, swapped with from and to in sight, and rolled back', async () => {
    await stage.repository('shop', { 't/a.txt': '1' });
    await stage.branch('shop', 'next');
    await stage.play(async (ui) => {
      await ui.open('/auth/buckets');
      await ui.button('Create bucket').first().click();
      await ui.field('Bucket name').fill('shop');
      await ui.page.getByRole('combobox', { name: 'Repository' }).fill('shop');
      await ui.page.getByRole('option', { name: 'shop', exact: true }).click();
      await ui.button('Shows branch: main').waitFor();
      await ui.button('Create bucket', ui.dialog()).click();
      await ui.sees('This conflicts with what is there');
      await ui.field('Bucket name').fill('shop-prod');
      await ui.field('Folder').fill('t/');
      await ui.button('Create bucket', ui.dialog()).click();
      await ui.isAt(/\/auth\/buckets\/shop-prod$/);
      await ui.button('Copy s3://shop-prod/').waitFor();
      await ui.button('Swap').click();
      await ui.button('Shows branch: main').click();
      await ui.page.getByRole('option', { name: 'next' }).click();
      const preview = ui.dialog().getByRole('status');
      await preview.getByText('shop/next/t/').waitFor();
      expect(await preview.innerText()).toMatch(/shop\/main\/t\/[\s\S]*shop\/next\/t\//);
      await ui.field('Pin to the commit of this moment').check();
      await ui.button('Swap', ui.dialog()).click();
      await ui.gone(ui.dialog());
      await ui.sees('pinned');
      await ui.button('Roll back').first().click();
      await ui.button('Roll back', ui.dialog()).click();
      await ui.sees('shop-prod shows shop/main again');
      await ui.open('/repositories/shop/settings/general');
      await ui.button('Delete repository').click();
      await ui.sees('Buckets show this');
      await ui.page.keyboard.press('Escape');
      await ui.link('shop-prod').click();
      await ui.button('Delete').click();
      await ui.button('Delete bucket', ui.dialog()).click();
      await ui.isAt(/\/auth\/buckets$/);
    });
  });

  test('an access key is bound to a bucket and released again', async () => {
    await stage.repository('bound', { 'a.txt': 'a' });
    const userId = 'etl';
    await stage.client.post('/auth/users', { body: { id: userId } });
    await stage.client.post('/auth/users/{userId}/credentials', { params: { path: { userId } } });
    await stage.play(async (ui) => {
      await ui.open('/auth/users/etl/credentials');
      await ui.button(/^Actions of/).click();
      await ui.page.getByRole('menuitem', { name: 'Bind to a bucket' }).click();
      await ui.field('Bucket name').fill('tables');
      await ui.page.getByRole('combobox', { name: 'Repository' }).fill('bound');
      await ui.page.getByRole('option', { name: 'bound', exact: true }).click();
      await ui.button('Shows branch: main').waitFor();
      await ui.button('Bind', ui.dialog()).click();
      await ui.sees('S3 only: tables');
      await ui.button(/^Actions of/).click();
      await ui.page.getByRole('menuitem', { name: 'Use for everything again' }).click();
      await ui.button('Release', ui.dialog()).click();
      await ui.lacks('S3 only: tables');
    });
  });

  test('a webhook is made, its secret shown once, tested, and what failed is retried or discarded', async () => {
    await stage.repository('told');
    let status = 200;
    const seen: string[] = [];
    const receiver = createServer((request, response) => {
      seen.push(String(request.headers['webhook-id']));
      response.writeHead(status).end();
    });
    await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/in`;
    try {
      await stage.play(async (ui) => {
        await ui.open('/auth/webhooks');
        await ui.button('Create webhook').first().click();
        await ui.field('Address').fill('http://169.254.169.254/');
        await ui.button('Create webhook', ui.dialog()).click();
        await ui.sees(/is not allowed/);
        await ui.field('Address').fill(url);
        await ui.page.getByRole('combobox', { name: 'Repository' }).fill('told');
        await ui.page.getByRole('option', { name: 'told', exact: true }).click();
        await ui.field('Types of events').fill('svc.branch.*');
        await ui.button('Create webhook', ui.dialog()).click();
        await ui.sees('Save the secret now');
        const secret = (await ui.dialog().locator('code').textContent()) ?? '';
        expect(secret).toMatch(/^whsec_/);
        await ui.page.keyboard.press('Escape');
        await ui.button('I have saved it').click();
        await ui.isAt(/\/auth\/webhooks\/\w+$/);
        expect(await ui.page.content()).not.toContain(secret);
        await ui.button('Send a test').click();
        await ui.sees('The test arrived');
        expect(seen).toHaveLength(1);
        status = 500;
        await stage.branch('told', 'fails');
        await waitUntil(async () => {
          await ui.page.reload();
          await ui.page.getByRole('tab', { name: 'Failing' }).waitFor();
          await ui.settles();
          return (await ui.button('Retry').count()) > 0;
        });
        await ui.sees(/1 attempt, status 500/);
        status = 200;
        await ui.button('Retry').click();
        await ui.button('Disable').click();
        await ui.button('Enable').waitFor();
        await ui.button('Delete').click();
        await ui.button('Delete', ui.dialog()).click();
        await ui.isAt(/\/auth\/webhooks$/);
        await ui.gone(ui.link(url));
      });
    } finally {
      receiver.closeAllConnections();
      await new Promise((done) => receiver.close(done));
    }
  });
}
