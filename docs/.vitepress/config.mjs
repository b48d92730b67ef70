/** The site of docs/: its pages as they are, with a navigation that docs/README.md gives, and search. `npm run docs` builds it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');
const DOCS = path.join(ROOT, 'docs');
const SOURCE = 'https://github.com/switchyard/switchyard/blob/main/';

/** The page of the site that a link of a document leads to; what is not a page of docs/ is shown where the source is. */
function targetOf(document, target) {
  if (/^([a-z][a-z+.-]*:|#)/.test(target)) return target;
  const [file, anchor] = target.split('#');
  const found = path.resolve(path.dirname(path.join(DOCS, document)), file);
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (!found.startsWith(`${DOCS}${path.sep}`)) return `${SOURCE}${path.relative(ROOT, found)}${hash}`;
  return `${target.split('#')[0].replace(/(^|\/)README\.md$/, '$1index.md')}${hash}`;
}

/** The tables of docs/README.md as groups of the sidebar. */
const sidebar = readFileSync(path.join(DOCS, 'README.md'), 'utf8')
  .split('\n## ')
  .slice(1)
  .map((section) => ({
    text: section.split('\n')[0],
    collapsed: false,
    items: [...section.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, text, target]) => {
      const link = targetOf('README.md', target);
      return { text, link: link.startsWith('https:') ? link : `/${link.replace(/(index)?\.md/, '')}` };
    }),
  }));

export default {
  title: 'Switchyard',
  description: 'Runs Kubernetes Jobs on many clusters',
  cacheDir: 'node_modules/.cache',
  rewrites: { 'README.md': 'index.md', ':folder/README.md': ':folder/index.md' },
  themeConfig: {
    outline: [2, 3],
    search: { provider: 'local' },
    sidebar,
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'Concepts', link: '/concepts' },
      { text: 'Command line', link: '/cli' },
    ],
  },
  markdown: {
    // Documents have Markdown alone: <FILE> is a word of theirs, and no element.
    html: false,
    // As GitHub names headings, so that links with an anchor lead to the same place.
    anchor: {
      slugify: (heading) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
          .replaceAll(' ', '-'),
    },
    languageAlias: { promql: 'sql' },
    config(md) {
      // Two braces are text here, and no expression of Vue's.
      const plain = ({ content }) => md.utils.escapeHtml(content).replaceAll('{{', '&#123;&#123;');
      md.renderer.rules.text = (tokens, index) => plain(tokens[index]);
      md.renderer.rules.code_inline = (tokens, index) => `<code>${plain(tokens[index])}</code>`;
      md.core.ruler.push('links', ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.type === 'link_open' ? token.attrGet('href') : null;
          if (href !== null) token.attrSet('href', targetOf(env.relativePath, href));
        }
      });
      const fence = md.renderer.rules.fence;
      md.renderer.rules.fence = (tokens, index, ...rest) =>
        tokens[index].info.trim() === 'mermaid'
          ? `<pre class="mermaid" v-pre>${md.utils.escapeHtml(tokens[index].content)}</pre>`
          : fence(tokens, index, ...rest);
    },
  },
  vite: {
    plugins: [
      {
        name: 'without-comments',
        enforce: 'pre',
        transform: (code, id) => (id.endsWith('.md') ? code.replaceAll(/<!--[\s\S]*?-->/g, '') : undefined),
      },
    ],
    build: { chunkSizeWarningLimit: 4_000 },
  },
};
