/** VitePress's own theme, which also draws the diagrams of a page. */
import DefaultTheme from 'vitepress/theme';
import { onMounted, watch } from 'vue';
import { useRoute } from 'vitepress';

export default {
  extends: DefaultTheme,
  setup() {
    const route = useRoute();
    const draw = async () => {
      const nodes = document.querySelectorAll('pre.mermaid:not([data-processed])');
      if (nodes.length === 0) return;
      const { default: mermaid } = await import('mermaid');
      const isDark = document.documentElement.classList.contains('dark');
      mermaid.initialize({ startOnLoad: false, theme: isDark ? 'dark' : 'default' });
      await mermaid.run({ nodes });
    };
    onMounted(draw);
    watch(
      () => route.path,
      () => setTimeout(draw),
    );
  },
};
