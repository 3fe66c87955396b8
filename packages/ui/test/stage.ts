import { ApiError, createClient } from '@svc/client';
import type { Client } from '@svc/client';
import { chromiumPath } from '@svc/testing';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { startSvc } from './svc-server.ts';
import type { SvcServer } from './svc-server.ts';

export const keys = {
  access_key_id: 'AKIAIOSFOLQUICKSTART',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};

const patience = 30_000;
/** The number of flows that run side by side: while one waits for the server, another renders. */
const atOnce = 2;

/** One browser and one quick-start server for all flows; a fresh session for each. */
export class Stage {
  readonly browser: Browser;
  readonly server: SvcServer;
  readonly client: Client;
  readonly #state: Awaited<ReturnType<BrowserContext['storageState']>>;
  #shared: Promise<BrowserContext> | undefined;
  #free = atOnce;
  readonly #waiting: (() => void)[] = [];

  private constructor(
    browser: Browser,
    server: SvcServer,
    state: Awaited<ReturnType<BrowserContext['storageState']>>,
  ) {
    this.browser = browser;
    this.server = server;
    this.#state = state;
    this.client = createClient({
      endpoint: server.url,
      credentials: { accessKeyId: keys.access_key_id, secretAccessKey: keys.secret_access_key },
    });
  }

  static async open(env: Record<string, string>): Promise<Stage> {
    const executablePath = await chromiumPath();
    const [server, browser] = await Promise.all([
      startSvc('--quickstart', env),
      chromium.launch({
        executablePath,
        args: [
          '--headless',
          '--no-sandbox',
          '--disable-gpu',
          '--disable-quic',
          '--no-first-run',
          '--disable-background-networking',
          '--disable-component-update',
          '--disable-sync',
        ],
      }),
    ]);
    const context = await browser.newContext();
    const login = await context.request.post(`${server.url}/api/v1/auth/login`, { data: keys });
    expect(login.status()).toBe(200);
    const state = await context.storageState();
    await context.close();
    return new Stage(browser, server, state);
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.server.stop();
  }

  async #newContext(loggedIn: boolean, baseURL: string): Promise<BrowserContext> {
    const context = await this.browser.newContext({
      baseURL,
      viewport: { width: 1280, height: 800 },
      reducedMotion: 'reduce',
      permissions: ['clipboard-read', 'clipboard-write'],
      ...(loggedIn && { storageState: this.#state }),
    });
    context.setDefaultTimeout(patience);
    return context;
  }

  /** Creates a repository with files on its default branch. */
  async repository(name: string, files: Record<string, string> = {}): Promise<string> {
    await this.#create(name, false);
    await this.write(name, 'main', files);
    if (Object.keys(files).length > 0) await this.commit(name, 'main', 'Start');
    return name;
  }

  /** A repository that an earlier try of the same flow left makes way. */
  async #create(name: string, sample: boolean): Promise<void> {
    const create = (namespace: string): Promise<unknown> =>
      this.client.post('/repositories', {
        body: { name, storage_namespace: `local://${namespace}`, sample_data: sample },
      });
    try {
      await create(name);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
      await this.client.delete('/repositories/{repository}', { params: { path: { repository: name } } });
      await create(`${name}-${Date.now()}`);
    }
  }

  async write(repository: string, branch: string, files: Record<string, string>): Promise<void> {
    for (const [path, body] of Object.entries(files)) {
      await this.client.objects.upload({ repository, branch, path, body });
    }
  }

  async commit(repository: string, branch: string, message: string): Promise<string> {
    const { id } = await this.client.post('/repositories/{repository}/branches/{branch}/commits', {
      params: { path: { repository, branch } },
      body: { message },
    });
    return id;
  }

  async branch(repository: string, name: string, source = 'main'): Promise<void> {
    await this.client.post('/repositories/{repository}/branches', {
      params: { path: { repository } },
      body: { name, source },
    });
  }

  /** Creates an administrator and answers their keys. */
  async administrator(userId: string): Promise<typeof keys> {
    await this.client.post('/auth/users', { body: { id: userId } });
    await this.client.put('/auth/groups/{groupId}/members/{userId}', {
      params: { path: { groupId: 'Admins', userId } },
    });
    return this.client.post('/auth/users/{userId}/credentials', { params: { path: { userId } } });
  }

  /** A repository with the sample data. */
  async sample(name: string): Promise<{ stations: string }> {
    await this.#create(name, true);
    return { stations: await this.read(name, 'main', 'data/stations.csv') };
  }

  async bytes(repository: string, ref: string, path: string): Promise<Uint8Array> {
    const { body } = await this.client.objects.download({ repository, ref, path });
    return new Uint8Array(await new Response(body).arrayBuffer());
  }

  async read(repository: string, ref: string, path: string): Promise<string> {
    return new TextDecoder().decode(await this.bytes(repository, ref, path));
  }

  async #turn(): Promise<() => void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return () => {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    };
  }

  /**
   * Runs a flow on its own page and fails it on console errors. Pages share one session and the browser's cache;
   * a flow that logs in or out, or changes stored preferences, gets its own browser profile.
   */
  async play(flow: (page: TestPage) => Promise<void>, options: PlayOptions = {}): Promise<void> {
    const { loggedIn = true, url = this.server.url, alone = !loggedIn } = options;
    const release = await this.#turn();
    try {
      const context = await (alone
        ? this.#newContext(loggedIn, url)
        : (this.#shared ??= this.#newContext(true, url)));
      const page = new TestPage(context, await context.newPage(), url);
      try {
        await flow(page);
        expect(page.troubles).toEqual([]);
      } catch (error) {
        throw new Error(`${String(error)}\n\n${await page.seen()}`, { cause: error });
      } finally {
        await (alone ? context : page.page).close();
      }
    } finally {
      release();
    }
  }
}

interface PlayOptions {
  readonly loggedIn?: boolean;
  readonly url?: string;
  readonly alone?: boolean;
}

export class TestPage {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly troubles: string[] = [];

  constructor(context: BrowserContext, page: Page, origin: string) {
    this.context = context;
    this.page = page;
    page.on('pageerror', (error) => this.troubles.push(`page error: ${error.message}`));
    page.on('console', (message) => {
      // A refused request also appears in the console; whether the page handles it is up to the test.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
        this.troubles.push(`console: ${message.text()}`);
      }
    });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) this.troubles.push(`request to ${url}`);
    });
  }

  async open(path: string): Promise<void> {
    await this.page.goto(path);
  }

  /** Follows an address inside the open page, as a link does. */
  async go(path: string): Promise<void> {
    await this.page.evaluate((to) => {
      history.pushState({}, '', to);
      dispatchEvent(new PopStateEvent('popstate', { state: {} }));
    }, path);
  }

  /** Waits until nothing is loading any more. */
  async settles(): Promise<void> {
    await this.page.waitForFunction(
      () => document.querySelector('[aria-busy="true"], .loading-bar, [data-loading]') === null,
    );
  }

  button(name: string | RegExp, within: Locator | Page = this.page): Locator {
    return within.getByRole('button', { name, exact: typeof name === 'string' });
  }

  link(name: string | RegExp): Locator {
    return this.page.getByRole('link', { name, exact: typeof name === 'string' });
  }

  field(label: string | RegExp): Locator {
    return this.page.getByLabel(label, { exact: typeof label === 'string' });
  }

  dialog(): Locator {
    return this.page.getByRole('dialog');
  }

  async sees(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor();
  }

  /** The text on the screen, to explain why a flow got stuck. */
  async seen(): Promise<string> {
    const text = await this.page.evaluate(() => document.body.innerText).catch(String);
    return `at ${this.page.url()}:\n${text.slice(0, 1500)}`;
  }

  async lacks(text: string | RegExp): Promise<void> {
    await this.gone(this.page.getByText(text));
  }

  async gone(locator: Locator): Promise<void> {
    await locator.first().waitFor({ state: 'detached' });
  }

  /** Waits until a button is disabled: what it depends on may still be loading. */
  async refuses(button: Locator): Promise<void> {
    await button.and(this.page.locator(':disabled, [aria-disabled=true]')).waitFor();
  }

  async isAt(pattern: RegExp): Promise<void> {
    await this.page.waitForURL(pattern);
  }
}
