# SPDX-License-Identifier: GPL-2.0-or-later
# rocecheck: one Makefile. `make demo` and `make check` install what is missing, then build and run.

VERSION    := 0.1.0
PREFIX     ?= /usr/local
PKG_CONFIG ?= pkg-config
BUILD      ?= $(if $(SAN),build/san,build)
CFLAGS     ?= -O2 -g
SUITE      ?= lab
JOBS       ?= $(shell nproc)
Q          := $(if $(V),,@)

LAYERS := profiles dcb capture probe reports cmd
PKGS   := yaml-0.1 jansson libnl-3.0 libpcap libdeflate libibverbs librdmacm libuv libxml-2.0 ncursesw libconfig zlib libzstd libseccomp libcap-ng nettle

CPPFLAGS += -I. -D_GNU_SOURCE -DROCECHECK_VERSION='"$(VERSION)"' \
            -DROCECHECK_DATA='"$(PREFIX)/share/rocecheck"'
CFLAGS   += -std=gnu11 -pthread -fno-strict-aliasing -Wall -Wextra -Wshadow -Wstrict-prototypes \
            -Wmissing-prototypes -Wvla -Wformat=2 -Werror=implicit-function-declaration
CFLAGS   += $(if $(SAN),-fsanitize=address -fsanitize=undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -O1 -g1)
# What a hostile input meets that gets past our checks; a user's CFLAGS leave it in place. FORTIFY wants an optimizer and
# gives way to the sanitizers. Each compiler takes what it knows: -fcf-protection is of x86 alone.
HARDEN_ASKED = -fPIE -fstack-protector-strong -fstack-clash-protection -fcf-protection \
  $(if $(findstring -fsanitize=,$(CFLAGS))$(filter -O0,$(or $(lastword $(filter -O%,$(CFLAGS))),-O0)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
HARDEN  = $(eval HARDEN := $(foreach f,$(HARDEN_ASKED),$(shell echo | $(CC) -Werror -O1 $(f) -x c -S -o /dev/null - 2>&1 | grep -q . || echo $(f))))$(HARDEN)
HARDEN_LINK = -pie -Wl,-z,relro,-z,now,-z,noexecstack
# Asked for when something is compiled: `make demo` may have to install pkg-config first.
PKG_CFLAGS = $(eval PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKGS)))$(PKG_CFLAGS)
PKG_LIBS   = $(eval PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PKGS)))$(PKG_LIBS)

SRCS  := $(foreach d,$(LAYERS),$(sort $(wildcard $(d)/*.c $(d)/*/*.c)))
OBJS  := $(SRCS:%.c=$(BUILD)/%.o)
LIB   := $(BUILD)/librocecheck.a
FUZZ  := $(patsubst tests/fuzz/fuzz_%.c,$(BUILD)/fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
# Units that take longest, for a first run; later ones go by the seconds of the last.
SLOW  := $(addprefix $(BUILD)/unit/,dcb/apply/test_deadman probe/traffic/test_traffic_loss probe/traffic/test_traffic_run \
                  probe/agent/test_agent_starved probe/traffic/test_traffic_throttle probe/io/test_handshake \
                  probe/coord/test_agent_stream dcb/apply/test_plan_apply capture/test_truth)
UNIT_DIRS := tests/unit/* tests/unit/*/* tests/lab/switch/test
UNIT_SRCS := $(sort $(wildcard $(UNIT_DIRS:%=%/test_*.c)))
SWITCH_UNITS := $(patsubst tests/lab/switch/test/%.c,$(BUILD)/unit/switch/%,$(filter tests/lab/%,$(UNIT_SRCS)))
UNITS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(filter tests/unit/%,$(UNIT_SRCS))) $(SWITCH_UNITS)
UNITS := $(filter $(UNITS),$(SLOW)) $(filter-out $(SLOW),$(UNITS)) $(FUZZ)
# What unit programs share; each takes of it what it names.
FIXTURES := $(patsubst %.c,$(BUILD)/%.o,$(sort $(filter-out $(UNIT_SRCS),$(wildcard $(UNIT_DIRS:%=%/*.c)))))
TOOLS := $(patsubst tests/lab/tools/%.c,$(BUILD)/tools/%,$(wildcard tests/lab/tools/*.c)) $(BUILD)/tools/capgen
CAPGEN := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard tests/tools/*.c)))
SWITCH := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard tests/lab/switch/*.c)))
FABRIC_TESTS := $(patsubst %,tests/lab/%.bats,capture-agree capture-loss capture-record dcbx ecn faults nic nic-load \
                  probe probe-faults probe-incast probe-marking probe-verdict share shell survey switch topologies)
# The labs of `make check`; all others are those of `make lab-check`.
CHECK_TESTS := tests/lab/smoke.bats tests/lab/demo.bats
# Goldens that mostly wait: behind the labs, where there is time for them.
WAITING := tests/golden/deadman.bats
# Labs in which nothing is measured: they run beside the others.
BESIDE_TESTS := $(patsubst %,tests/lab/%.bats,apply apply-faults apply-hosts apply-use boot collect confirm \
                  doctor scenario setup traps traps-ice trust watch)
LAB_TESTS := $(sort $(filter-out $(CHECK_TESTS) $(FABRIC_TESTS) $(BESIDE_TESTS),$(wildcard tests/lab/*.bats)))
DATA = $(DESTDIR)$(PREFIX)/share
ALL := $(MAKE) --no-print-directory -j$(JOBS) all
COMPILE = $(CC) $(CPPFLAGS) $(HARDEN) $(CFLAGS) $(PKG_CFLAGS) -MMD -MP
PROGRAM = $(Q)mkdir -p $(@D) && echo "  CC  $@" && $(COMPILE) $(HARDEN_LINK) $(LDFLAGS) -o $@ $(filter $< %.o,$^) $(filter-out $(LIB),$(filter %.a,$^)) $(LIB) $(PKG_LIBS) $(LDLIBS)
# What fuzz targets share: mutators, and what several do with an input.
FUZZ_SHARED := $(patsubst %.c,$(BUILD)/%.o,$(filter-out tests/fuzz/fuzz_% tests/fuzz/replay.c,$(wildcard tests/fuzz/*.c)))
# What runs a fuzz target; nothing where LDFLAGS=-fsanitize=fuzzer brings it.
FUZZ_MAIN ?= $(BUILD)/tests/fuzz/replay.o

all: $(BUILD)/rocecheck $(TOOLS) $(BUILD)/labswitch

$(LIB): $(filter-out $(BUILD)/cmd/main.o,$(OBJS))
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# Also when the flags have changed: an object of before would lack them.
$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D) && echo "  CC  $@"
	$(Q)$(COMPILE) -c -o $@ $<

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/unit/fixture.a $(LIB)
	$(PROGRAM) -lcmocka
$(BUILD)/unit/switch/%: tests/lab/switch/test/%.c $(BUILD)/unit/fixture.a $(LIB)
	$(PROGRAM) -lcmocka
$(BUILD)/unit/fixture.a: $(FIXTURES)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^
$(BUILD)/fuzz/%: tests/fuzz/fuzz_%.c $(LIB)
	$(PROGRAM)
$(FUZZ): $(FUZZ_MAIN) $(BUILD)/fuzz/shared.a | build/fuzz/seeds/made
# What the targets begin with. Other builds take it from the plain one, which may have to be made for that.
ifeq ($(BUILD),build)
build/fuzz/seeds/made: tests/fuzz/seeds.py tests/fuzz/document_seeds.py $(wildcard tests/golden/*/*.pcap) build/tools/capgen build/rocecheck
	@echo "  GEN $@" && rm -rf $(@D) && mkdir -p $(@D)
	$(Q)tests/fuzz/seeds.py $(@D) && touch $@
else
build/fuzz/seeds/made:
	$(Q)env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u CFLAGS -u LDFLAGS -u SAN $(MAKE) --no-print-directory -j$(JOBS) BUILD=build $@
endif
$(BUILD)/fuzz/shared.a: $(FUZZ_SHARED)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $^
$(SWITCH_UNITS) $(BUILD)/fuzz/tlv: $(filter-out %/main.o,$(SWITCH))
$(addprefix $(BUILD)/unit/capture/,test_truth flow/test_cuts file/test_record_file) $(BUILD)/bench/capture: $(filter-out %/main.o,$(CAPGEN))
$(BUILD)/rocecheck: $(BUILD)/cmd/main.o
$(BUILD)/labswitch: $(SWITCH)
$(BUILD)/tools/capgen: $(CAPGEN)
$(BUILD)/rocecheck $(BUILD)/labswitch $(BUILD)/tools/capgen: $(LIB)
	@mkdir -p $(@D) && echo "  LD  $@"
	$(Q)$(CC) $(HARDEN) $(CFLAGS) $(HARDEN_LINK) $(LDFLAGS) -o $@.tmp $(filter %.o,$^) $(LIB) $(PKG_LIBS) $(LDLIBS) && mv $@.tmp $@
$(BUILD)/bench/%: tests/bench/%.c $(BUILD)/unit/fixture.a $(LIB) $(filter-out %/main.o,$(SWITCH))
	$(PROGRAM)
$(BUILD)/tools/%: tests/lab/tools/%.c
	@mkdir -p $(@D) && echo "  CC  $@"
	$(Q)$(COMPILE) $(HARDEN_LINK) $(LDFLAGS) -o $@ $< $(LDLIBS)

# Set-up: Debian packages of tests/packages, installed only when missing.
setup setup-lab setup-soak:
	@tests/lab/setup.sh build lab-host $(if $(filter setup-lab,$@),,check) $(if $(filter setup-soak,$@),soak)

unit: $(UNITS) ; @tests/run.sh $(BUILD)/check --together $(UNITS)

# The tests of every change, without hardware or KVM; ends in "N passed, N failed, N skipped".
check: setup
	@$(ALL)
	@tests/run.sh build/check $(CHECK_TESTS) $(WAITING) --beside tests/sanitize.sh --together $(UNITS:$(BUILD)/%=build/san/%) \
	        --beside tests/layers.sh $(filter-out $(WAITING),$(sort $(wildcard tests/golden/*.bats))) tests/units.sh --together $(UNITS:$(BUILD)/%=build/%)
$(BUILD)/units: $(UNITS)

# The lab itself: its faults, its NIC and switch under load, DCBX; it wants a machine of its own.
fabric-check: setup
	@$(ALL) && tests/run.sh build/fabric-check $(FABRIC_TESTS)

# What takes hours: every part under tests/soak/, or PART=fuzz, with TARGETS="agent control" of it alone.
# FUZZ_MINUTES=60 for each fuzz target.
soak: setup-soak
	@$(ALL) && for part in $(or $(PART:%=tests/soak/%.sh),$(sort $(wildcard tests/soak/*.sh))); do \
	        echo "soak: $$part"; $$part $(if $(PART),$(TARGETS)) || failed=1; done; exit $$failed

# The rest of the proof: every scenario, and every lab file that is in no other target. With one of these it plays
# scenarios alone: SCENARIO='NAME FILE.yaml', KERNEL=6.12 as for lab, PROVE=1: without its fault, which it has to notice.
lab-check: setup
	@$(ALL) && $(if $(SCENARIO)$(PROVE)$(KERNEL),LAB_KERNEL=$(KERNEL) tests/lab/scenario $(if $(PROVE),--without-fault) $(SCENARIO), \
	        SCENARIO_RETRY=1 tests/run.sh build/lab-check $(LAB_TESTS) tests/lab/scenario \
	        tests/lab/without-evidence --beside $(BESIDE_TESTS) tests/lab/scenario-6.12)
# A lab to work in: a shell on each host, the switch's statistics live. TOPOLOGY=FILE, KERNEL=6.12.
lab: setup
	@$(ALL) && LAB_KERNEL=$(KERNEL) tests/lab/shell.sh $(TOPOLOGY)

# A profile applied to two lab hosts, validated; everything it leaves is under build/demo/.
demo: setup-lab
	@$(ALL) && tests/lab/demo.sh $(FAULT)

# BASE=REV: that revision is built, too, and both are played in turn, PAIRS=21 times or from where it was stopped; exit 2 when a row is worse.
bench: all $(BUILD)/bench/$(SUITE) $(if $(filter probe,$(SUITE)),$(BUILD)/bench/pattern)
	@$(if $(BASE),tests/bench/compare.sh $(SUITE) $(BASE),tests/bench/keep.sh $(BUILD)/bench/$(SUITE))
# Fills the tables of the manual pages from the program.
man: $(BUILD)/rocecheck ; @cmd/man/tables.sh $< cmd/man/*.[578]
layers: ; @tests/layers.sh
clean: ; rm -rf build

install: all
	install -Dm755 $(BUILD)/rocecheck $(DESTDIR)$(PREFIX)/bin/rocecheck
	install -Dm644 -t $(DATA)/rocecheck/profiles profiles/*.yaml
	for s in 5 7 8; do install -Dm644 -t $(DATA)/man/man$$s cmd/man/*.$$s || exit; done
	install -Dm644 -t $(DESTDIR)$(PREFIX)/lib/udev/rules.d cmd/dist/*.rules
	for u in cmd/dist/*.service; do sed 's,/usr/local/,$(PREFIX)/,' $$u | install -Dm644 /dev/stdin $(DESTDIR)$(PREFIX)/lib/systemd/system/$${u##*/} || exit; done
	$(BUILD)/rocecheck completion bash | install -Dm644 /dev/stdin $(DATA)/bash-completion/completions/rocecheck

.PHONY: all setup setup-lab setup-soak unit units check lab-check fabric-check soak lab demo bench man layers install clean
.DELETE_ON_ERROR:
-include $(OBJS:.o=.d) $(SWITCH:.o=.d) $(CAPGEN:.o=.d) $(UNITS:=.d) $(FIXTURES:.o=.d) $(FUZZ_SHARED:.o=.d)
