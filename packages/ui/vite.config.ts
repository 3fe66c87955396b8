import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';

const root = join(import.meta.dirname, '..', '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

/** Puts the styles below the shell of the page: above it they would keep it from being painted. */
const stylesAfterShell: Plugin = {
  name: 'styles-after-shell',
  transformIndexHtml: {
    order: 'post',
    handler(html) {
      const styles = /\s*<link rel="stylesheet"[^>]*>/g;
      const links = html.match(styles) ?? [];
      return html
        .replace(styles, '')
        .replace('<div id="root">', `${links.join('').trim()}\n    <div id="root">`);
    },
  },
};

/** Names the version to scripts that are served as they are. */
const versionInPage: Plugin = {
  name: 'version-in-page',
  transformIndexHtml: (html) => html.replace('%VERSION%', version),
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [versionInPage, stylesAfterShell],
  define: { __SVC_VERSION__: JSON.stringify(version) },
  build: {
    outDir: join(root, 'dist', 'ui'),
    emptyOutDir: true,
    // Data addresses would need a wider content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1200,
    reportCompressedSize: false,
    rolldownOptions: {
      // The component library marks its modules for servers we do not have.
      onLog(level, log, report) {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log);
      },
      output: {
        // Nearly all of it runs at once: browsers that know this mark compile it while it arrives, not function by
        // function while the page is being drawn.
        postBanner: ({ name }) => (name === 'react' ? '//# allFunctionsCalledOnLoad\n' : ''),
        codeSplitting: {
          // One file for what every page needs instead of dozens of small ones.
          groups: [
            { name: 'react', test: /node_modules[\\/](react|react-dom|scheduler|@tanstack)[\\/]/ },
            // What the first page needs and nothing else; menus and dialogs come when they are first opened.
            { name: 'first', tags: ['$initial'] },
            { name: 'shared', test: /node_modules|packages[\\/](ui|client)[\\/]src/, minShareCount: 8 },
          ],
        },
      },
    },
  },
  server: {
    proxy: { '/api': 'http://127.0.0.1:8000', '/logout': 'http://127.0.0.1:8000' },
  },
});
