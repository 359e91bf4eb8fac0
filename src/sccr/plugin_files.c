/* plugin_files - see plugin_files.h */
#include "sccr/plugin_files.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sccr/common.h"
#include "sccr/safe.h"

#define SELECT	 "select_cons_tres.so"
#define PRIORITY "priority_ccr.so"
/* SLURM_VERSION_NUMBER: 0xMMmmuu */
#define MAJOR(v) ((v) >> 16 & 0xff)
#define MINOR(v) ((v) >> 8 & 0xff)
#define MICRO(v) ((v)&0xff)

/* Everything that is to be mapped is there. */
static bool is_whole(Elf *elf, uint64_t size)
{
	size_t n;
	GElf_Phdr p;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!gelf_getphdr(elf, (int)i, &p) ||
		    (p.p_type == PT_LOAD && (p.p_offset > size || p.p_filesz > size - p.p_offset)))
			return false;
	return n > 0;
}

/* The section's content, of which nothing is trusted; NULL without one. */
static Elf_Data *content(Elf_Scn *section)
{
	Elf_Data *d = section ? elf_getdata(section, NULL) : NULL;

	return d && d->d_buf ? d : NULL;
}

/* The exported object of that name and the section in which it lies; false without it. */
static bool find(Elf *elf, const char *name, GElf_Sym *sym)
{
	Elf_Scn *at = NULL;
	GElf_Shdr table;

	while ((at = elf_nextscn(elf, at))) {
		Elf_Data *d;

		if (!gelf_getshdr(at, &table) || table.sh_type != SHT_DYNSYM || !table.sh_entsize ||
		    !(d = content(at)))
			continue;
		for (size_t i = 0; i < d->d_size / table.sh_entsize; i++) {
			const char *its;

			if (!gelf_getsym(d, (int)i, sym))
				return false;
			its = sym->st_value ? elf_strptr(elf, table.sh_link, sym->st_name) : NULL;
			if (its && !strcmp(its, name))
				return true;
		}
	}
	return false;
}

/* The first bytes of an exported object, n at most; how many there are. */
static size_t read_object(Elf *elf, const char *name, void *out, size_t n)
{
	GElf_Shdr section;
	Elf_Data *d;
	GElf_Sym sym;
	Elf_Scn *at;

	if (!find(elf, name, &sym) || !(at = elf_getscn(elf, sym.st_shndx)) ||
	    !gelf_getshdr(at, &section) || !(d = content(at)) || sym.st_value < section.sh_addr ||
	    sym.st_value - section.sh_addr >= d->d_size)
		return 0;
	sym.st_value -= section.sh_addr;
	if (n > d->d_size - sym.st_value)
		n = d->d_size - sym.st_value;
	memcpy(out, (const char *)d->d_buf + sym.st_value, n);
	return n;
}

static enum plugin_state look(Elf *elf, uint64_t size, uint32_t *version)
{
	const uint16_t one = 1;
	unsigned char host = *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
	char name[200] = "", type[1];
	GElf_Ehdr head;

	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &head))
		return PLUGIN_DAMAGED;
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != host)
		return PLUGIN_NONE; /* of another kind of machine: not for us to judge */
	if (!is_whole(elf, size) || !read_object(elf, "plugin_type", type, sizeof(type)) ||
	    read_object(elf, "plugin_version", version, sizeof(*version)) != sizeof(*version) ||
	    !read_object(elf, "plugin_name", name, sizeof(name) - 1))
		return PLUGIN_DAMAGED;
	return strstr(name, "slurm-ccr") ? PLUGIN_OURS : PLUGIN_STOCK;
}

enum plugin_state plugin_file_read(const char *path, uint32_t *version)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum plugin_state state = PLUGIN_NONE;
	uint32_t its = 0;
	struct stat st;
	Elf *elf;

	if (version)
		*version = 0;
	if (fd < 0)
		return PLUGIN_NONE;
	if (elf_version(EV_CURRENT) != EV_NONE && !fstat(fd, &st) && S_ISREG(st.st_mode)) {
		elf = elf_begin(fd, ELF_C_READ, NULL);
		state = elf ? look(elf, (uint64_t)st.st_size, &its) : PLUGIN_DAMAGED;
		(void)elf_end(elf);
	}
	close(fd);
	if (version)
		*version = its & 0xffffff;
	return state;
}

/* What PluginDir has. Paths are "" where there is none. */
struct found {
	char ours[PATH_MAX], stock[PATH_MAX];
	uint32_t our_version, stock_version;
	bool silent;   /* another select plugin is in use */
	bool diverted; /* the stock plugin was moved aside, ours is in its place */
};

static void warn_of_damage(const char *path)
{
	sccr_warn("%s is damaged or no plugin: slurmctld passes it over, or ends on it", path);
}

static void look_into(struct found *x, const char *path, bool aside)
{
	uint32_t version;

	switch (plugin_file_read(path, &version)) {
	case PLUGIN_NONE:
		break;
	case PLUGIN_DAMAGED:
		if (!x->silent)
			warn_of_damage(path);
		break;
	case PLUGIN_STOCK:
		if (x->stock[0])
			break;
		snprintf(x->stock, sizeof(x->stock), "%s", path);
		x->stock_version = version;
		x->diverted = aside;
		break;
	case PLUGIN_OURS:
		if (x->ours[0])
			break;
		snprintf(x->ours, sizeof(x->ours), "%s", path);
		x->our_version = version;
		if (x->stock[0] && !x->silent)
			sccr_warn("%s is before %s in PluginDir: slurmctld loads the former, and "
				  "there is no gate",
				  x->stock, path);
		break;
	}
}

static void warn_of_version(const char *path, uint32_t its, const struct found *x, const char *then)
{
	if (its != x->stock_version)
		sccr_warn("%s is built for Slurm %u.%02u.%u, and %s is of %u.%02u.%u: slurmctld %s",
			  path, MAJOR(its), MINOR(its), MICRO(its), x->stock,
			  MAJOR(x->stock_version), MINOR(x->stock_version), MICRO(x->stock_version),
			  then);
}

/* The priority plugin is loaded from the first folder that has a good one. */
static void look_for_priority(const char *dir, char *found, uint32_t *version)
{
	char path[PATH_MAX];

	if (*found || snprintf(path, sizeof(path), "%s/" PRIORITY, dir) >= PATH_MAX)
		return;
	switch (plugin_file_read(path, version)) {
	case PLUGIN_DAMAGED:
		warn_of_damage(path);
		break;
	case PLUGIN_OURS:
		memcpy(found, path, sizeof(path));
		break;
	default:
		break;
	}
}

void plugin_files_warn(const struct sim_cluster *settings)
{
	const char *set = sim_cluster_setting(settings, "PluginDir"),
		   *select = sim_cluster_setting(settings, "SelectType"),
		   *type = sim_cluster_setting(settings, "PriorityType");
	bool of_select = !select || !strcasecmp(select, "select/cons_tres"),
	     of_priority = type && !strcasecmp(type, "priority/ccr");
	char *dirs = set ? strdup(set) : NULL, *rest = dirs, *dir, path[PATH_MAX];
	char priority[PATH_MAX] = "";
	struct found x = {.ours = "", .silent = !of_select};
	uint32_t version = 0;

	while (rest && (dir = strsep(&rest, ":"))) {
		if (!*dir)
			continue;
		if (snprintf(path, sizeof(path), "%s/" SELECT, dir) < PATH_MAX)
			look_into(&x, path, false);
		if (snprintf(path, sizeof(path), "%s/ccr-stock/" SELECT, dir) < PATH_MAX)
			look_into(&x, path, true);
		if (of_priority)
			look_for_priority(dir, priority, &version);
	}
	free(dirs);
	if (!x.stock[0])
		return; /* of which Slurm this host's is cannot be told */
	if (x.ours[0] && of_select)
		warn_of_version(x.ours, x.our_version, &x,
				x.diverted ? "does not start"
					   : "passes it over, and there is no gate");
	if (priority[0])
		warn_of_version(priority, version, &x, "does not start");
}
